import { notFound } from "@ostiary/lib/domain/errors";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { and, eq, not, type SQL, sql } from "drizzle-orm";
import { isOneOf } from "../publishing/queries.ts";
import { revisions, services } from "../tables.ts";
import type { CurrentService, ServiceState } from "./service.ts";

/** Joins the newest revision of each service. */
export const ofNewestRevision = and(
  eq(revisions.service, services.name),
  eq(revisions.revision, services.revision),
);

/** Every current service, in the order of their names. */
export function listServices(orm: Orm): Promise<CurrentService[]> {
  return currentServices(orm);
}

/** One current service; 404 when there is none of that name. */
export async function readService(orm: Orm, name: string): Promise<CurrentService> {
  const [service] = await currentServices(orm, eq(services.name, name));
  if (service === undefined) throw notFound("service", name);
  return service;
}

/** Those of `names` that are current services, by name. */
export async function readServices(orm: Orm, names: readonly string[]): Promise<Map<string, CurrentService>> {
  const found = await currentServices(orm, isOneOf(services.name, names));
  return new Map(found.map((service) => [service.name, service]));
}

export interface Published {
  services: number;
  routes: number;
}

/** How much is published. */
export async function countPublished(orm: Orm): Promise<Published> {
  const [published] = await rows<Published>(
    orm,
    sql`select (select count(*)::integer from routes.services where not deleted) as services,
               (select count(*)::integer from routes.owned_routes) as routes`,
  );
  if (published === undefined) throw new Error("A count gives one row.");
  return published;
}

function currentServices(orm: Orm, filter?: SQL): Promise<CurrentService[]> {
  return orm
    .select({
      name: services.name,
      revision: services.revision,
      // a table's check: only a revision that deleted the service has none
      config: sql<StoredServiceConfig>`${revisions.config}`,
    })
    .from(services)
    .innerJoin(revisions, ofNewestRevision)
    .where(and(not(services.deleted), filter))
    .orderBy(services.name);
}

/** The states of those of `names` that were ever written, by name. */
export async function readStates(orm: Orm, names: readonly string[]): Promise<Map<string, ServiceState>> {
  const found = await orm
    .select({ name: services.name, revision: services.revision, deleted: services.deleted })
    .from(services)
    .where(isOneOf(services.name, names));
  return new Map(found.map((state) => [state.name, state]));
}

/** The state of one service; undefined when it was never written. */
export async function readState(orm: Orm, name: string): Promise<ServiceState | undefined> {
  return (await readStates(orm, [name])).get(name);
}
