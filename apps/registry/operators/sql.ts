import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { isOneOf } from "../sql.ts";
import { ownedRoutes } from "../tables.ts";

/** Returns the paths of the current services among `names`, each with its service. */
export function currentPaths(
  orm: Orm,
  names: readonly string[],
): Promise<{ service: string; path: string }[]> {
  return orm
    .selectDistinct({ service: ownedRoutes.service, path: ownedRoutes.path })
    .from(ownedRoutes)
    .where(isOneOf(ownedRoutes.service, names))
    .orderBy(ownedRoutes.service, ownedRoutes.path);
}
