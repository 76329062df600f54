import type { RevisionAction } from "@ostiary/lib/contracts/registry-api";
import {
  type OwnedRoute,
  ownedRoutes,
  type RateLimitPolicy,
  routeShape,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

/** Where a service stands: its newest revision, and whether that one deleted it. */
export interface Standing {
  name: string;
  revision: number;
  deleted: boolean;
}

/** A revision to append; `config` null is a tombstone. */
export interface NewRevision {
  service: string;
  revision: number;
  action: RevisionAction;
  restored_from: number | null;
  config: StoredServiceConfig | null;
}

/** A policy that a current service declares. */
export interface DeclaredPolicy extends Required<RateLimitPolicy> {
  service: string;
  name: string;
}

/** The lane of every transaction that is to become the writer. */
export const WRITERS_LANE = "writers";

/**
 * Makes this transaction the only writer until it ends, and gives it its fence: greater than every fence
 * before it and, counting from the clock's microseconds, greater than those of a database that was lost.
 */
export async function becomeWriter(tx: Orm, above = 0): Promise<number> {
  const [row] = await rows<{ last_fence: number }>(
    tx,
    sql`update routes.writer
        set last_fence = greatest(
          last_fence + 1, ${above}::bigint + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
        returning last_fence`,
  );
  if (row === undefined) throw new Error("The table routes.writer has lost its row.");
  return Number(row.last_fence);
}

/** The standings of those of `names` that were ever written. */
export async function standingsOf(orm: Orm, names: readonly string[]): Promise<Map<string, Standing>> {
  const found = await rows<Standing>(
    orm,
    sql`select name, revision, deleted from routes.services where name in (${listOf(names)})`,
  );
  return new Map(found.map((row) => [row.name, row]));
}

/** Which of the methods and shapes of `incoming` belong to services that are not incoming. */
export async function otherOwners(
  orm: Orm,
  incoming: ReadonlyMap<string, StoredServiceConfig>,
): Promise<OwnedRoute[]> {
  return rows<{ service: string; method: string; path: string }>(
    orm,
    sql`select owned.service, owned.method, owned.path
        from json_to_recordset(${claims(incoming)}::json) as claimed(method text, shape text)
        join routes.owned_routes owned
          on owned.method = claimed.method and owned.shape = claimed.shape collate "C"
        where owned.service not in (${listOf([...incoming.keys()])})`,
  );
}

/** One shared and one local declaration of each policy name of `incoming` by services that are not incoming. */
export async function otherPolicies(
  orm: Orm,
  incoming: ReadonlyMap<string, StoredServiceConfig>,
): Promise<DeclaredPolicy[]> {
  const names = [...incoming.values()].flatMap((config) => Object.keys(config.rate_limits ?? {}));
  if (names.length === 0) return [];
  return rows<DeclaredPolicy>(
    orm,
    sql`select distinct on (name, shared) name, shared, service, requests, window_seconds
        from routes.policies
        where name in (${listOf(names)}) and service not in (${listOf([...incoming.keys()])})
        order by name, shared, service`,
  );
}

/** Appends `revisions`, makes them current, and replaces what their services own and declare. */
export async function appendRevisions(
  tx: Orm,
  revisions: readonly NewRevision[],
  { fence, request_id }: { fence: number; request_id: string },
): Promise<void> {
  const written = JSON.stringify(revisions);
  const heads = JSON.stringify(
    revisions.map(({ service, revision, action }) => ({ service, revision, action })),
  );
  const names = listOf(revisions.map(({ service }) => service));
  await rows(
    tx,
    sql`insert into routes.services (name, revision, deleted, fence)
        select service, revision, action = 'delete', ${fence}::bigint
        from json_to_recordset(${heads}::json) as written(service text, revision integer, action text)
        on conflict (name) do update
        set revision = excluded.revision, deleted = excluded.deleted, fence = excluded.fence`,
  );
  await rows(
    tx,
    sql`insert into routes.revisions (service, revision, action, restored_from, config, request_id)
        select service, revision, action, restored_from,
          case when action <> 'delete' then config end, ${request_id}::text
        from json_to_recordset(${written}::json) as written(
          service text, revision integer, action text, restored_from integer, config json)`,
  );
  await rows(tx, sql`delete from routes.owned_routes where service in (${names})`);
  await rows(tx, sql`delete from routes.policies where service in (${names})`);
  const configs = new Map(revisions.flatMap(({ service, config }) => (config ? [[service, config]] : [])));
  await insertClaims(tx, configs);
}

async function insertClaims(tx: Orm, configs: ReadonlyMap<string, StoredServiceConfig>): Promise<void> {
  await rows(
    tx,
    sql`insert into routes.owned_routes (method, shape, service, path)
        select method, shape, service, path
        from json_to_recordset(${claims(configs)}::json)
          as claimed(method text, shape text, service text, path text)`,
  );
  const policies = [...configs].flatMap(([service, config]) =>
    Object.entries(config.rate_limits ?? {}).map(([name, policy]) => ({
      ...policy,
      name,
      service,
      shared: policy.shared === true,
    })),
  );
  if (policies.length === 0) return;
  await rows(
    tx,
    sql`insert into routes.policies (name, service, shared, requests, window_seconds)
        select name, service, shared, requests, window_seconds
        from json_to_recordset(${JSON.stringify(policies)}::json)
          as declared(name text, service text, shared boolean, requests bigint, window_seconds bigint)`,
  );
}

/** The methods and shapes of `configs` as JSON, each once; of several paths with one shape the first. */
function claims(configs: ReadonlyMap<string, StoredServiceConfig>): string {
  const claimed = new Map<string, OwnedRoute & { shape: string }>();
  for (const [service, config] of configs) {
    for (const { method, path } of ownedRoutes(service, config)) {
      const shape = routeShape(path);
      const key = `${method} ${shape}`;
      if (!claimed.has(key)) claimed.set(key, { service, method, path, shape });
    }
  }
  return JSON.stringify([...claimed.values()]);
}

/** A subquery of the texts of `values`: one parameter, however many there are. */
function listOf(values: readonly string[]) {
  return sql`select value from json_array_elements_text(${JSON.stringify(values)}::json)`;
}
