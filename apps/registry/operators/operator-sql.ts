import {
  canonicalAddress,
  type Published,
  type StoredServiceConfig,
  sharedPolicies,
} from "@ostiary/lib/domain/routes";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, asc, eq, not, or } from "drizzle-orm";
import { isOneOf, policyOf } from "../registry-sql.ts";
import { ownedRoutes, policies, services } from "../tables.ts";

/** Returns the part of the current state that decides whether a publisher may do `writes`. */
export async function readPublished(
  orm: Orm,
  writes: ReadonlyMap<string, StoredServiceConfig | null>,
): Promise<Published> {
  const names = [...writes.keys()];
  const configs = [...writes.values()].filter((config) => config !== null);
  const declared = configs.flatMap(sharedPolicies).map(([name]) => name);
  const [paths, addresses, shared] = await Promise.all([
    currentPaths(orm, names),
    currentAddresses(
      orm,
      names,
      configs.map(({ url }) => canonicalAddress(url) ?? ""),
    ),
    declared.length === 0 ? [] : sharedDeclarations(orm, declared),
  ]);
  return { paths, addresses, policies: shared };
}

/** Returns the paths of the current services among `names`, each with its service. */
function currentPaths(orm: Orm, names: readonly string[]): Promise<{ service: string; path: string }[]> {
  return orm
    .selectDistinct({ service: ownedRoutes.service, path: ownedRoutes.path })
    .from(ownedRoutes)
    .where(isOneOf(ownedRoutes.service, names))
    .orderBy(ownedRoutes.service, ownedRoutes.path);
}

/** Returns the addresses of the current services that are among `names` or have one of `addresses`. */
function currentAddresses(orm: Orm, names: readonly string[], addresses: readonly string[]) {
  return orm
    .select({ service: services.name, address: services.address })
    .from(services)
    .where(
      and(not(services.deleted), or(isOneOf(services.name, names), isOneOf(services.address, addresses))),
    );
}

/** Returns the declarations of shared policies with one of `names` by current services. */
async function sharedDeclarations(orm: Orm, names: readonly string[]): Promise<Published["policies"]> {
  const found = await orm
    .select()
    .from(policies)
    .where(and(isOneOf(policies.name, names), eq(policies.shared, true)))
    .orderBy(asc(policies.service));
  return found.map((row) => ({ service: row.service, name: row.name, policy: policyOf(row) }));
}
