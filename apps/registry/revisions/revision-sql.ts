import type { Revision } from "@ostiary/lib/contracts/registry-api";
import { notFound } from "@ostiary/lib/domain/errors";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, desc, eq } from "drizzle-orm";
import { readStoredConfig, unreadableRevision, withTests } from "../services/service.ts";
import { readState, testsOfRevision } from "../services/service-sql.ts";
import { revisions, routeTests } from "../tables.ts";

/** An entry of a service's history. */
type RevisionRow = typeof revisions.$inferSelect;

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

/** Returns the history of a service, newest first. Throws a 404 for a service that was never written. */
export async function listRevisions(orm: Orm, service: string): Promise<RevisionRow[]> {
  const found = await selectRevisions(orm)
    .where(eq(revisions.service, service))
    .orderBy(desc(revisions.revision));
  if (found.length === 0) throw notFound("service", service);
  return found.map(rowOf);
}

/** Returns one revision of a service. Throws a 404 that names what does not exist: the service or the revision. */
export async function readRevision(orm: Orm, service: string, revision: number): Promise<RevisionRow> {
  const found = await findRevision(orm, service, revision);
  if (found !== undefined) return found;
  const state = await readState(orm, service);
  throw state === undefined ? notFound("service", service) : notFound("revision", String(revision));
}

/** Returns one revision of a service, or undefined if it does not exist. */
export async function findRevision(
  orm: Orm,
  service: string,
  revision: number,
): Promise<RevisionRow | undefined> {
  const [found] = await selectRevisions(orm).where(
    and(eq(revisions.service, service), eq(revisions.revision, revision)),
  );
  return found && rowOf(found);
}

function selectRevisions(orm: Orm) {
  return orm
    .select({ row: revisions, tests: routeTests.tests })
    .from(revisions)
    .leftJoin(routeTests, testsOfRevision);
}

/** Returns a row of the history with the tests in its config. */
function rowOf({ row, tests }: { row: RevisionRow; tests: unknown }): RevisionRow {
  return { ...row, config: withTests(row.config, tests) };
}
