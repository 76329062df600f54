import type { Service, Services } from "@ostiary/lib/contracts/registry-api";
import type { FieldError } from "@ostiary/lib/domain/errors";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import type { services } from "../tables.ts";

type ServiceRow = typeof services.$inferSelect;

/** A current service, with the config of its newest revision. */
export type CurrentService = Pick<ServiceRow, "name" | "revision"> & { config: StoredServiceConfig };

/** A current service with a newest revision that this version of Ostiary cannot read. */
export type UnreadableService = Pick<ServiceRow, "name" | "revision"> & {
  config: null;
  unreadable: FieldError[];
};

/**
 * The newest revision of a service, and whether the service is deleted. A service that was never written has
 * no state.
 */
export type ServiceState = Pick<ServiceRow, "name" | "revision" | "deleted">;

/** Returns the number of the revision that the next write creates. */
export function nextRevision(state: ServiceState | undefined): number {
  return (state?.revision ?? 0) + 1;
}

/** Returns the response body of GET, PUT and restore for a service. */
export function showService({ name, revision, config }: CurrentService): Service {
  return { name, revision, ...config };
}

/** Returns the response body for several services. Lists unreadable services separately. */
export function showServices(found: readonly (CurrentService | UnreadableService)[]): Services {
  const services: [string, CurrentService["config"]][] = [];
  const unreadable: [string, FieldError[]][] = [];
  for (const service of found) {
    if (service.config === null) unreadable.push([service.name, service.unreadable]);
    else services.push([service.name, service.config]);
  }
  return {
    services: Object.fromEntries(services),
    ...(unreadable.length > 0 && { unreadable: Object.fromEntries(unreadable) }),
  };
}
