import type { Revision } from "@ostiary/lib/contracts/registry-api";
import { notFound } from "@ostiary/lib/domain/errors";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

type RevisionRow = Omit<Revision, "config"> & { config: string | null } & Record<string, unknown>;

const columns = sql.raw(
  "service, revision, action, restored_from, config::text as config, request_id, created_at::text as created_at",
);

/** The history of a service, newest first; 404 when it was never written. */
export async function listRevisions(database: Database, orm: Orm, service: string): Promise<Revision[]> {
  const rows = await database.rows<RevisionRow>(
    orm,
    sql`select ${columns} from routes.revisions where service = ${service} order by revision desc`,
  );
  if (rows.length === 0) throw notFound("service", service);
  return rows.map(toRevision);
}

/** One entry of a service's history; 404 names what is unknown, the service or the revision. */
export async function readRevision(
  database: Database,
  orm: Orm,
  service: string,
  revision: number,
): Promise<Revision> {
  const [row] = await database.rows<RevisionRow>(
    orm,
    sql`select ${columns} from routes.revisions where service = ${service} and revision = ${revision}::bigint`,
  );
  if (row !== undefined) return toRevision(row);
  const known = await database.rows(orm, sql`select 1 from routes.services where name = ${service}`);
  throw known.length === 0 ? notFound("service", service) : notFound("revision", String(revision));
}

function toRevision(row: RevisionRow): Revision {
  const { service, revision, action, restored_from, request_id, config } = row;
  return {
    service,
    revision,
    action,
    restored_from,
    config: config === null ? null : parseStored(config),
    request_id,
    created_at: new Date(row.created_at).toISOString(),
  };
}

/** Safe: only valid configs in stored form are ever written. */
export function parseStored(config: string): StoredServiceConfig {
  // biome-ignore lint/plugin: see above
  return JSON.parse(config) as StoredServiceConfig;
}
