import type { Service } from "@ostiary/lib/contracts/registry-api";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import type { services } from "../tables.ts";

type ServiceRow = typeof services.$inferSelect;

/** A current service, with the config of its newest revision. */
export type CurrentService = Pick<ServiceRow, "name" | "revision"> & { config: StoredServiceConfig };

/** Current or deleted, and the newest revision; a service that was never written has none. */
export type ServiceState = Pick<ServiceRow, "name" | "revision" | "deleted">;

/** The revision that the next write of a service makes. */
export function nextRevision(state: ServiceState | undefined): number {
  return (state?.revision ?? 0) + 1;
}

/** As GET, PUT and restore answer it. */
export function showService({ name, revision, config }: CurrentService): Service {
  return { name, revision, ...config };
}
