import {
  canonicalAddress,
  type OwnedRoute,
  routeShape,
  ownedRoutes as routesOf,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { and, not, type SQL, sql } from "drizzle-orm";
import type { WritePermission } from "../operators/write-permission.ts";
import { isOneOf, textsOf } from "../registry-sql.ts";
import { policies, type revisions, type writer } from "../tables.ts";

export type NewRevision = Pick<
  typeof revisions.$inferSelect,
  "service" | "revision" | "action" | "restored_from"
> & {
  /** The config; null deletes the service. */
  config: StoredServiceConfig | null;
};

/** Services by name, valid and in stored form. */
export type Configs = ReadonlyMap<string, StoredServiceConfig>;

/** The lane of every transaction that calls `becomeWriter`. */
export const WRITERS_LANE = "writers";

/**
 * Makes this transaction the only writer until it ends, and returns its fence, which is greater than every earlier
 * fence. Fences follow the clock in microseconds. So the fences of a new database exceed those of a lost database.
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

/** Returns the methods and shapes of `incoming` that other services own. */
export function otherOwners(orm: Orm, incoming: Configs): Promise<OwnedRoute[]> {
  return rows<OwnedRoute>(
    orm,
    sql`select owned.service, owned.method, owned.path
        from json_to_recordset(${claimsOf(incoming)}::json) as claimed(method text, shape text)
        cross join lateral (${ownerOfClaim}) as owned
        where owned.service <> all(${textsOf([...incoming.keys()])})`,
  );
}

/**
 * Selects the owner of one method and shape. The planner overestimates the number of wanted pairs and would scan
 * the whole table. `offset 0` forces one index lookup for each pair.
 */
const ownerOfClaim = sql`
  select service, method, path from routes.owned_routes
  where method = claimed.method and shape = claimed.shape collate "C" offset 0`;

/** For each policy name of `incoming`, returns at most one shared and one local declaration by other services. */
export async function otherPolicies(orm: Orm, incoming: Configs): Promise<(typeof policies.$inferSelect)[]> {
  const names = [...incoming.values()].flatMap((config) => Object.keys(config.rate_limits ?? {}));
  if (names.length === 0) return [];
  return orm
    .selectDistinctOn([policies.name, policies.shared])
    .from(policies)
    .where(and(isOneOf(policies.name, names), not(isOneOf(policies.service, [...incoming.keys()]))))
    .orderBy(policies.name, policies.shared, policies.service);
}

/** Returns whether a current service has tests. */
export async function hasTests(orm: Orm): Promise<boolean> {
  const [found] = await rows<{ found: boolean }>(
    orm,
    sql`select exists (
          select from routes.route_tests as kept
          join routes.services as service on service.name = kept.service and service.revision = kept.revision
          where not service.deleted) as found`,
  );
  return found?.found === true;
}

/**
 * The new `outstanding_since` of a service that gets a new fence: the time of the oldest write that is still
 * outstanding.
 */
export const OUTSTANDING_SINCE = sql`case when services.projected_fence = services.fence then clock_timestamp()
  else services.outstanding_since end`;

/** Appends `revisions`, makes them current, and replaces the routes and policies of their services. */
export async function appendRevisions(
  tx: Orm,
  revisions: readonly NewRevision[],
  { fence, permission }: { fence: number; permission: WritePermission },
): Promise<void> {
  const { operator, request_id, reason, link } = permission.author;
  const names = revisions.map(({ service }) => service);
  const configs = new Map(revisions.flatMap(({ service, config }) => (config ? [[service, config]] : [])));
  const written = revisions.map(({ config, ...revision }) => {
    const { tests = [], ...stored } = config ?? {};
    return {
      ...revision,
      config: config && stored,
      address: config && canonicalAddress(config.url),
      ...(tests.length > 0 && { tests }),
    };
  });
  await rows(
    tx,
    sql`with written as (
          select * from json_to_recordset(${JSON.stringify(written)}::json) as written(
            service text, revision integer, action text, restored_from integer, config json,
            address text, tests json)
        ), heads as (
          insert into routes.services (name, revision, deleted, fence, life, address)
          select service, revision, action = 'delete', ${fence}::bigint, ${fence}::bigint, address from written
          on conflict (name) do update
          set revision = excluded.revision, deleted = excluded.deleted, fence = excluded.fence,
            life = case when services.deleted then excluded.life else services.life end, address = excluded.address,
            outstanding_since = ${OUTSTANDING_SINCE}
        ), tested as (
          insert into routes.route_tests (service, revision, tests)
          select service, revision, tests from written where tests is not null
        ), ${replaceClaims(names, configs)}, ${replacePolicies(names, configs)}
        insert into routes.revisions
          (service, revision, action, restored_from, config, request_id, operator, reason, link)
        select service, revision, action, restored_from,
          case when action <> 'delete' then config end, ${request_id}::text, ${operator?.name ?? null}::text,
          ${reason}::text, ${link}::text
        from written`,
  );
}

/** Returns the CTEs that replace the routes that `configs` own. The CTEs do not touch unchanged rows. */
function replaceClaims(names: readonly string[], configs: Configs): SQL {
  return sql`claimed as materialized (
      select * from json_to_recordset(${claimsOf(configs)}::json)
        as claimed(method text, shape text, service text, path text)
    ), given_up as (
      delete from routes.owned_routes as owned
      where service = any(${textsOf(names)}) and not exists (
        select from claimed where claimed.method = owned.method and claimed.shape collate "C" = owned.shape)
    ), taken as (
      insert into routes.owned_routes (method, shape, service, path)
      select claimed.method, claimed.shape, claimed.service, claimed.path
      from claimed left join lateral (${ownerOfClaim}) as owned on true
      where (claimed.service, claimed.path) is distinct from (owned.service, owned.path)
      on conflict (method, shape) do update set service = excluded.service, path = excluded.path
    )`;
}

/** Returns the CTEs that replace the policies that `configs` declare. The CTEs do not touch unchanged rows. */
function replacePolicies(names: readonly string[], configs: Configs): SQL {
  const declared = [...configs].flatMap(([service, config]) =>
    Object.entries(config.rate_limits ?? {}).map(([name, policy]) => ({
      ...policy,
      name,
      service,
      shared: policy.shared === true,
    })),
  );
  return sql`declared as materialized (
      select * from json_to_recordset(${JSON.stringify(declared)}::json)
        as declared(name text, service text, shared boolean, requests bigint, window_seconds bigint, period text,
          plans jsonb, charge text)
    ), dropped as (
      delete from routes.policies as policy
      where service = any(${textsOf(names)}) and not exists (
        select from declared where (declared.name, declared.service, declared.shared)
          = (policy.name, policy.service, policy.shared))
    ), kept as (
      insert into routes.policies (name, service, shared, requests, window_seconds, period, plans, charge)
      select name, service, shared, requests, window_seconds, period, plans, charge from declared
      on conflict (name, shared, service) do update
      set requests = excluded.requests, window_seconds = excluded.window_seconds, period = excluded.period,
        plans = excluded.plans, charge = excluded.charge
    )`;
}

/**
 * Returns each method and shape of `configs` once, as JSON. Keeps the first of several paths with the same shape.
 */
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
