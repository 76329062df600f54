import type { CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import {
  type OutOfBounds,
  PublisherBounds,
  publishedBy,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";

export function mayWrite({ role }: CurrentOperator): boolean {
  return role !== "reader";
}

/** A deletion of a service, or the restore of a config. */
interface ServiceWrite {
  /** The published services. The ones that the console cannot read are missing. */
  readonly published: Readonly<Record<string, StoredServiceConfig>>;
  /** The restored config, or null for a deletion. */
  readonly restored: StoredServiceConfig | null;
}

/** Returns the parts of a write outside the bounds of a publisher. The registry checks again at the write (RG-114). */
export function outOfBounds(
  operator: CurrentOperator,
  service: string,
  { published, restored }: ServiceWrite,
): OutOfBounds[] {
  if (operator.role !== "publisher") return [];
  const state = publishedBy(Object.entries(published));
  return new PublisherBounds(operator).outside(new Map([[service, restored]]), state, { isRestore: true });
}
