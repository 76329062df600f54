import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { MapNode } from "./node.ts";

/** The key of a stored node: the number of the leaf that wrote it, and the digits that lead to it. */
export interface NodePlace {
  version: number;
  path: string;
}

/** Returns the nodes with these keys in their order; null for a node that is gone or cannot be read. */
export async function selectNodes(orm: Orm, places: readonly NodePlace[]): Promise<(MapNode | null)[]> {
  const wanted = places.map(({ version, path }) => ({ version, path }));
  const found = await rows<{ n: number; node: string | null }>(
    orm,
    sql`select wanted.n::integer as n, encode(stored.node, 'base64') as node
      from rows from (json_to_recordset(${JSON.stringify(wanted)}::text::json) as (version bigint, path text))
          with ordinality as wanted(version, path, n)
        left join lateral (select node from audit.head_map known
          where known.version = wanted.version and known.path = wanted.path limit 1) stored on true`,
  );
  const nodes: (MapNode | null)[] = places.map(() => null);
  for (const { n, node } of found) {
    nodes[n - 1] = node === null ? null : MapNode.read(Buffer.from(node, "base64"));
  }
  return nodes;
}

/** Returns the newest version of a stored node; 0 for none. Versions that no leaf can have do not count. */
export async function selectNewestVersion(orm: Orm): Promise<number> {
  const [found] = await rows<{ version: number }>(
    orm,
    sql`select coalesce(max(version), 0) as version from audit.head_map where version < ${String(2 ** 52)}::text::bigint`,
  );
  return found?.version ?? 0;
}
