import type { CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import {
  boundedPaths,
  type OutOfBounds,
  ownedRoutes,
  PublisherBounds,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";

/** Returns whether the operator may write anything at all. */
export function mayWrite({ role }: CurrentOperator): boolean {
  return role !== "reader";
}

/** The config of a service before and after a write. Null if the service is unpublished or unreadable. */
interface ServiceWrite {
  readonly before: StoredServiceConfig | null;
  readonly after: StoredServiceConfig | null;
}

/**
 * Returns the services and paths of a write that a publisher may not publish. Empty if the write is allowed.
 * The registry checks again at the write (RG-114).
 */
export function outOfBounds(
  operator: CurrentOperator,
  service: string,
  { before, after }: ServiceWrite,
): OutOfBounds[] {
  if (operator.role !== "publisher") return [];
  const bounds = new PublisherBounds(operator);
  if (!bounds.isOwn(service)) return [{ service }];
  return bounds.outside([
    ...(before === null ? [] : ownedRoutes(service, before)),
    ...(after === null ? [] : boundedPaths(service, after)),
  ]);
}
