import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { MapNode } from "./node.ts";

/** The key of a stored node: the checkpoint that wrote the node, and the digits that lead to it. */
export interface NodePlace {
  checkpoint: number;
  path: string;
}

/** Returns the nodes with these keys in their order; null for a node that is gone or cannot be read. */
export async function selectNodes(
  database: Database,
  places: readonly NodePlace[],
): Promise<(MapNode | null)[]> {
  const wanted = places.map(({ checkpoint, path }) => ({ checkpoint, path }));
  const found = await query<{ n: number; node: string | null }>(database, "select_head_map")`
    select wanted.n::integer as n, encode(stored.node, 'base64') as node
      from rows from (json_to_recordset(${JSON.stringify(wanted)}::text::json) as (checkpoint bigint, path text))
          with ordinality as wanted(checkpoint, path, n)
        left join lateral (select node from audit.head_map known
          where known.checkpoint = wanted.checkpoint and known.path = wanted.path limit 1) stored on true`;
  const nodes: (MapNode | null)[] = places.map(() => null);
  for (const { n, node } of found) {
    nodes[n - 1] = node === null ? null : MapNode.read(Buffer.from(node, "base64"));
  }
  return nodes;
}
