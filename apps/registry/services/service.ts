import type { Service, Services } from "@ostiary/lib/contracts/registry-api";
import { ApiError, type FieldError, fieldErrors, fits } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import { StoredServiceConfig } from "@ostiary/lib/domain/routes";
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

/**
 * A config as stored in the database. During an upgrade or rollback, replicas of two versions of Ostiary share the
 * database. Therefore a config may have fields that this version does not know.
 */
type StoredConfig =
  | { readonly config: StoredServiceConfig }
  | {
      readonly config: null;
      /** The violations that make the config unreadable for this version of Ostiary. */
      readonly unreadable: FieldError[];
    };

/** Joins a stored config with the tests of its revision; `tests` is null for a revision without tests. */
export function withTests(config: unknown, tests: unknown): unknown {
  return tests === null || !isRecord(config) ? config : { ...config, tests };
}

/** Reads a stored config. If this version of Ostiary cannot read it, returns the violations instead. */
export function readStoredConfig(stored: unknown): StoredConfig {
  if (fits(StoredServiceConfig, stored)) return { config: stored };
  return { config: null, unreadable: fieldErrors(StoredServiceConfig, stored) };
}

/** Returns the 409 for a revision that this version of Ostiary cannot read. */
export function unreadableRevision(service: string, revision: number): ApiError {
  return new ApiError("CONFLICT", {
    message: `Another version of Ostiary wrote revision ${revision} of ${service}, and this version cannot read it. Restore an earlier revision, or run the version that wrote it.`,
    details: { field: "revision", value: String(revision) },
  });
}
