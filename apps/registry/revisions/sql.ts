import { notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, desc, eq } from "drizzle-orm";
import { readState, testsOfRevision } from "../services/sql.ts";
import { withTests } from "../services/stored-config.ts";
import { revisions, routeTests } from "../tables.ts";
import type { RevisionRow } from "./revision.ts";

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
