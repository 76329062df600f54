import type { Database } from "@ostiary/lib/runtime/stores/database";
import { isOneOf } from "../sql.ts";
import { services } from "../tables.ts";

/** Returns the fence that was last projected for each of `names`, or 0 before the first projection. */
export async function readProjectedFences(
  database: Database,
  names: readonly string[],
): Promise<Map<string, number>> {
  const found = await database.run("select_projected", (orm) =>
    orm
      .select({ name: services.name, projected_fence: services.projected_fence })
      .from(services)
      .where(isOneOf(services.name, names)),
  );
  return new Map(found.map(({ name, projected_fence }) => [name, projected_fence ?? 0]));
}
