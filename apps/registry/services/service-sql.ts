import { notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, eq, not, type SQL } from "drizzle-orm";
import { isOneOf } from "../registry-sql.ts";
import { revisions, routeTests, services } from "../tables.ts";
import {
  type CurrentService,
  readStoredConfig,
  type ServiceState,
  type UnreadableService,
  unreadableRevision,
  withTests,
} from "./service.ts";

/** The condition that joins each service with its newest revision. */
export const ofNewestRevision = and(
  eq(revisions.service, services.name),
  eq(revisions.revision, services.revision),
);

/** The condition that joins a revision with its tests. */
export const testsOfRevision = and(
  eq(routeTests.service, revisions.service),
  eq(routeTests.revision, revisions.revision),
);

/**
 * Returns a current service. Throws a 404 if it does not exist, and a 409 if this version of Ostiary cannot read its
 * config.
 */
export async function readService(orm: Orm, name: string): Promise<CurrentService> {
  const [service] = await listServices(orm, eq(services.name, name));
  if (service === undefined) throw notFound("service", name);
  if (service.config === null) throw unreadableRevision(name, service.revision);
  return service;
}

/** Returns the current services among `names`, by name. */
export async function readServices(
  orm: Orm,
  names: readonly string[],
): Promise<Map<string, CurrentService | UnreadableService>> {
  const found = await listServices(orm, isOneOf(services.name, names));
  return new Map(found.map((service) => [service.name, service]));
}

/** Lists the current services that match the filter, in the order of their names. */
export async function listServices(orm: Orm, filter?: SQL): Promise<(CurrentService | UnreadableService)[]> {
  const found = await orm
    .select({
      name: services.name,
      revision: services.revision,
      config: revisions.config,
      tests: routeTests.tests,
    })
    .from(services)
    .innerJoin(revisions, ofNewestRevision)
    .leftJoin(routeTests, testsOfRevision)
    .where(and(not(services.deleted), filter))
    .orderBy(services.name);
  return found.map(({ name, revision, config, tests }) => ({
    name,
    revision,
    ...readStoredConfig(withTests(config, tests)),
  }));
}

/** Returns the states of the services among `names` that were ever written, by name. */
export async function readStates(orm: Orm, names: readonly string[]): Promise<Map<string, ServiceState>> {
  const found = await orm
    .select({ name: services.name, revision: services.revision, deleted: services.deleted })
    .from(services)
    .where(isOneOf(services.name, names));
  return new Map(found.map((state) => [state.name, state]));
}

/** Returns the state of one service, or undefined for a service that was never written. */
export async function readState(orm: Orm, name: string): Promise<ServiceState | undefined> {
  return (await readStates(orm, [name])).get(name);
}
