import {
  type OwnedRoute,
  routeShape,
  ownedRoutes as routesOf,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { and, type Column, inArray, not, type SQL, sql } from "drizzle-orm";
import { ownedRoutes, policies, type revisions, type writer } from "../tables.ts";

/** A revision to append. */
export type NewRevision = Omit<typeof revisions.$inferSelect, "request_id" | "created_at">;

type Configs = ReadonlyMap<string, StoredServiceConfig>;

/** The lane of every transaction that is to become the writer. */
export const WRITERS_LANE = "writers";

/**
 * Makes this transaction the only writer until it ends, and gives it its fence: greater than every fence
 * before it and, counting from the clock's microseconds, greater than those of a database that was lost.
 */
export async function becomeWriter(tx: Orm, above = 0): Promise<number> {
  const [row] = await rows<Pick<typeof writer.$inferSelect, "last_fence">>(
    tx,
    sql`update routes.writer
        set last_fence = greatest(
          last_fence + 1, ${above}::bigint + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
        returning last_fence`,
  );
  if (row === undefined) throw new Error("The table routes.writer has lost its row.");
  return row.last_fence;
}

/** Which of the methods and shapes of `incoming` belong to services that are not incoming. */
export function otherOwners(orm: Orm, incoming: Configs): Promise<OwnedRoute[]> {
  return rows<OwnedRoute>(
    orm,
    sql`select owned.service, owned.method, owned.path
        from json_to_recordset(${claimsOf(incoming)}::json) as claimed(method text, shape text)
        join routes.owned_routes owned
          on owned.method = claimed.method and owned.shape = claimed.shape collate "C"
        where owned.service not in ${textsOf([...incoming.keys()])}`,
  );
}

/** One shared and one local declaration of each policy name of `incoming` by services that are not incoming. */
export async function otherPolicies(orm: Orm, incoming: Configs): Promise<(typeof policies.$inferSelect)[]> {
  const names = [...incoming.values()].flatMap((config) => Object.keys(config.rate_limits ?? {}));
  if (names.length === 0) return [];
  return orm
    .selectDistinctOn([policies.name, policies.shared])
    .from(policies)
    .where(and(isOneOf(policies.name, names), not(isOneOf(policies.service, [...incoming.keys()]))))
    .orderBy(policies.name, policies.shared, policies.service);
}

/** Appends `revisions`, makes them current, and replaces what their services own and declare. */
export async function appendRevisions(
  tx: Orm,
  revisions: readonly NewRevision[],
  { fence, request_id }: { fence: number; request_id: string },
): Promise<void> {
  await rows(
    tx,
    sql`with written as (
          select * from json_to_recordset(${JSON.stringify(revisions)}::json) as written(
            service text, revision integer, action text, restored_from integer, config json)
        ), heads as (
          insert into routes.services (name, revision, deleted, fence)
          select service, revision, action = 'delete', ${fence}::bigint from written
          on conflict (name) do update
          set revision = excluded.revision, deleted = excluded.deleted, fence = excluded.fence
        )
        insert into routes.revisions (service, revision, action, restored_from, config, request_id)
        select service, revision, action, restored_from,
          case when action <> 'delete' then config end, ${request_id}::text
        from written`,
  );
  const names = revisions.map(({ service }) => service);
  await tx.delete(ownedRoutes).where(isOneOf(ownedRoutes.service, names));
  await tx.delete(policies).where(isOneOf(policies.service, names));
  const configs = revisions.flatMap(({ service, config }) => (config ? [[service, config] as const] : []));
  await insertClaims(tx, new Map(configs));
}

async function insertClaims(tx: Orm, configs: Configs): Promise<void> {
  await rows(
    tx,
    sql`insert into routes.owned_routes (method, shape, service, path)
        select method, shape, service, path
        from json_to_recordset(${claimsOf(configs)}::json)
          as claimed(method text, shape text, service text, path text)`,
  );
  const declared = [...configs].flatMap(([service, config]) =>
    Object.entries(config.rate_limits ?? {}).map(([name, policy]) => ({
      ...policy,
      name,
      service,
      shared: policy.shared === true,
    })),
  );
  if (declared.length === 0) return;
  await rows(
    tx,
    sql`insert into routes.policies (name, service, shared, requests, window_seconds)
        select name, service, shared, requests, window_seconds
        from json_to_recordset(${JSON.stringify(declared)}::json)
          as declared(name text, service text, shared boolean, requests bigint, window_seconds bigint)`,
  );
}

/** The methods and shapes of `configs` as JSON, each once; of several paths with one shape the first. */
function claimsOf(configs: Configs): string {
  const claimed = new Map<string, OwnedRoute & { shape: string }>();
  for (const [service, config] of configs) {
    for (const { method, path } of routesOf(service, config)) {
      const shape = routeShape(path);
      const key = `${method} ${shape}`;
      if (!claimed.has(key)) claimed.set(key, { service, method, path, shape });
    }
  }
  return JSON.stringify([...claimed.values()]);
}

/** Whether a column is one of `values`, which travel as one parameter, however many there are. */
export function isOneOf(column: Column, values: readonly string[]): SQL {
  return inArray(column, textsOf(values));
}

function textsOf(values: readonly string[]): SQL {
  return sql`(select value from json_array_elements_text(${JSON.stringify(values)}::json))`;
}
