import type { Revision } from "@ostiary/lib/contracts/registry-api";
import { notFound } from "@ostiary/lib/domain/errors";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

type RevisionRow = Omit<Revision, "config"> & { config: string | null };

const columns = sql.raw(
  "service, revision, action, restored_from, config::text as config, request_id, created_at::text as created_at",
);

/** The history of a service, newest first; 404 when it was never written. */
export async function listRevisions(orm: Orm, service: string): Promise<Revision[]> {
  const found = await rows<RevisionRow>(
    orm,
    sql`select ${columns} from routes.revisions where service = ${service} order by revision desc`,
  );
  if (found.length === 0) throw notFound("service", service);
  return found.map(toRevision);
}

/** One entry of a service's history; 404 names what is unknown, the service or the revision. */
export async function readRevision(orm: Orm, service: string, revision: number): Promise<Revision> {
  const [row] = await rows<RevisionRow>(
    orm,
    sql`select ${columns} from routes.revisions where service = ${service} and revision = ${revision}::bigint`,
  );
  if (row !== undefined) return toRevision(row);
  const known = await rows(orm, sql`select 1 from routes.services where name = ${service}`);
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
