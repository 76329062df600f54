import { sameHash } from "@ostiary/lib/domain/proof";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { LEAF_NUMBER_END } from "../root/tree-sql.ts";
import { MapNode, type NodeRef } from "./node.ts";

/** A reference to a stored node, and the digits that lead to the node. */
export interface NodePlace extends NodeRef {
  path: string;
}

/** Returns the nodes at these places in their order; null for a node that is gone or differs from the expected one. */
export async function selectNodes(orm: Orm, places: readonly NodePlace[]): Promise<(MapNode | null)[]> {
  const wanted = places.map(({ version, path }) => ({ version, path }));
  const found = await rows<{ n: number; node: string }>(
    orm,
    sql`select wanted.n::integer as n, encode(stored.node, 'base64') as node
      from rows from (json_to_recordset(${JSON.stringify(wanted)}::text::json) as (version bigint, path text))
          with ordinality as wanted(version, path, n)
        cross join lateral (select node from audit.head_map known
          where known.version = wanted.version and known.path = wanted.path offset 0) stored`,
  );
  const nodes: (MapNode | null)[] = places.map(() => null);
  for (const { n, node } of found) {
    const read = MapNode.read(Buffer.from(node, "base64"));
    const expected = places[n - 1]?.hash;
    if (read !== null && expected !== undefined && sameHash(read.hash, expected)) nodes[n - 1] = read;
  }
  return nodes;
}

/** Returns the newest version of a stored node; 0 for none. Versions that no leaf can have do not count. */
export async function selectNewestVersion(orm: Orm): Promise<number> {
  const [found] = await rows<{ version: number }>(
    orm,
    sql`select coalesce(max(version), 0) as version from audit.head_map where version < ${LEAF_NUMBER_END}`,
  );
  return found?.version ?? 0;
}
