import type { Revision } from "@ostiary/lib/contracts/registry-api";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { readStoredConfig, unreadableRevision } from "../services/stored-config.ts";
import type { revisions } from "../tables.ts";

/** An entry of a service's history. */
export type RevisionRow = typeof revisions.$inferSelect;

export function showRevision({ created_at, config, ...row }: RevisionRow): Revision {
  return { ...row, ...configOf(config), created_at: created_at.toISOString() };
}

/**
 * Returns the config of a revision, or null for a deletion. Throws a 409 if this version of Ostiary cannot read the
 * config.
 */
export function readableConfig({
  service,
  revision,
  config: stored,
}: RevisionRow): StoredServiceConfig | null {
  const { config } = configOf(stored);
  if (config === null && stored !== null) throw unreadableRevision(service, revision);
  return config;
}

function configOf(stored: unknown) {
  return stored === null ? { config: null } : readStoredConfig(stored);
}
