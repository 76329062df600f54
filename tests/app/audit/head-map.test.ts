import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { HeadMap, NodeCache, rootOf } from "@ostiary/audit/head-map/head-map";
import { decodedNode, encodedNode, hashOfNode } from "@ostiary/audit/head-map/node";
import { selectProvenHeads } from "@ostiary/audit/head-map/proofs";
import {
  type Head,
  hashFromHex,
  hexOf,
  isInMap,
  type MapProof,
  sha256,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import { type Database, openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { freshDatabase } from "../../support/index.ts";
import { mapRoot } from "../../support/trees-of-heads.ts";

const MIGRATIONS = join(import.meta.dir, "../../../drizzle/audit");

/** Writes the nodes of a checkpoint, as a pass of the sealer does. */
async function write(
  database: Database,
  checkpoint: number,
  nodes: readonly { path: string; node: string }[],
) {
  await database.run("write_nodes", (orm) =>
    rows(
      orm,
      sql`insert into audit.head_map (checkpoint, path, node)
        select ${checkpoint}::bigint, path, decode(node, 'base64')
        from json_to_recordset(${JSON.stringify(nodes)}::text::json) as given(path text, node text)`,
    ),
  );
}

/** Seals heads as one checkpoint on top of the one before, and returns its root. */
async function seal(
  database: Database,
  cache: NodeCache,
  before: { number: number; root: string } | null,
  heads: readonly Head[],
): Promise<{ number: number; root: string }> {
  const number = (before?.number ?? 0) + 1;
  const root = before === null ? null : rootOf(before.number, before.root);
  const map = await HeadMap.open(
    database,
    cache,
    root,
    heads.map(({ owner }) => owner),
  );
  for (const head of heads) map.set(head.owner, head);
  const sealed = map.sealed(number);
  await write(database, number, sealed.nodes);
  return { number, root: hexOf(sealed.root) };
}

/** Changes a byte of a stored node, or changes it back. */
async function flipByte(database: Database, { path, checkpoint }: { path: string; checkpoint: number }) {
  await database.transaction("tamper", async (tx) => {
    await rows(tx, sql`alter table audit.head_map disable trigger no_change`);
    await rows(
      tx,
      sql`update audit.head_map set node = set_byte(node, 20, 255 - get_byte(node, 20))
        where path = ${path} and checkpoint = ${checkpoint}::integer`,
    );
    await rows(tx, sql`alter table audit.head_map enable trigger no_change`);
  });
}

const head = (owner: string, position: number): Head => ({
  owner,
  position,
  chain: sha256(`${owner} ${position}`),
});
const none = (owner: string): Head => ({ owner, position: 0, chain: ZERO_HASH });

/** Expects a proof to show this head, and nothing else. */
function expectProof(expected: Head, map: MapProof, root: Uint8Array): void {
  expect(isInMap(expected, map, root)).toBe(true);
  const wrong = [
    { ...expected, position: expected.position + 1 },
    { ...expected, chain: sha256("x") },
    // an owner beside it may be absent by the same proof
    ...(expected.position === 0 ? [] : [{ ...expected, owner: `${expected.owner} ` }]),
  ];
  for (const other of wrong) expect(isInMap(other, map, root)).toBe(false);
  const { path } = map;
  const edits = [
    [...path, "00".repeat(32)],
    ...(path.length === 0 ? [] : [path.slice(1), path.slice(0, -1)]),
  ];
  for (const edit of edits) expect(isInMap(expected, { ...map, path: edit }, root)).toBe(false);
}

describe("the map of heads", () => {
  let database: Database;
  const sealedRoots: string[] = [];
  const states: Map<string, Head>[] = [];

  beforeAll(async () => {
    database = await openDatabase(await freshDatabase(), { namespace: "audit" });
    await database.migrate("audit", MIGRATIONS);
    const cache = new NodeCache();
    const heads = new Map<string, Head>();
    let last: { number: number; root: string } | null = null;
    for (let number = 1; number <= 12; number++) {
      // the first checkpoint has one log, and later ones hundreds, new and old ones
      const moved = number === 1 ? 1 : number * 30;
      for (let n = 0; n < moved; n++) {
        const owner = `organization:${(n * 7 * number) % 600}`;
        heads.set(owner, head(owner, number));
      }
      const changed = [...heads.values()].filter(({ position }) => position === number);
      // every third checkpoint is sealed by a replica that remembers nothing
      last = await seal(database, number % 3 === 0 ? new NodeCache() : cache, last, changed);
      sealedRoots.push(last.root);
      states.push(new Map(heads));
    }
  });
  afterAll(() => database.close());

  // AU-140
  test("has the root over all heads, whoever sealed the checkpoints before", () => {
    expect(sealedRoots).toEqual(states.map((heads) => hexOf(mapRoot([...heads.values()]))));
  });

  // AU-141
  test("proves the head of each owner under each checkpoint, and that there was none", async () => {
    const numbers = states.map((_, index) => index + 1);
    for (const owner of Array.from({ length: 40 }, (_, n) => `organization:${n * 17}`)) {
      const proven = await selectProvenHeads(database, owner, numbers);
      for (const [index, found] of proven.entries()) {
        const root = hashFromHex(sealedRoots[index] ?? "");
        const expected = states[index]?.get(owner) ?? none(owner);
        expect([found?.position, found?.chain]).toEqual([expected.position, hexOf(expected.chain)]);
        if (found === null) throw new Error("A node is gone.");
        expectProof(expected, found.map, root);
      }
    }
  });

  // AU-142
  test("says of an owner that a node on its way is gone or changed, and goes on for the others", async () => {
    const last = sealedRoots.length;
    const [below] = await database.run("look", (orm) =>
      rows<{ path: string; checkpoint: number }>(
        orm,
        sql`select path, max(checkpoint)::integer as checkpoint from audit.head_map where length(path) = 1
          group by path order by path limit 1`,
      ),
    );
    if (below === undefined) throw new Error("The map has one node.");
    const heads = [...(states.at(-1)?.values() ?? [])];
    const isBelow = ({ owner }: Head) => hexOf(sha256(owner)).startsWith(below.path);
    const [inside, outside] = [heads.filter(isBelow), heads.filter((each) => !isBelow(each))];
    await flipByte(database, below);
    try {
      const root = rootOf(last, sealedRoots.at(-1) ?? "");
      const owners = heads.map(({ owner }) => owner);
      const map = await HeadMap.open(database, new NodeCache(), root, owners);
      expect(map.isLost).toBe(false);
      expect(inside.map(({ owner }) => map.headOf(owner))).toEqual(inside.map(() => "lost"));
      for (const each of outside) expect(map.headOf(each.owner)).toMatchObject({ position: each.position });
      const nowhere = await HeadMap.open(
        database,
        new NodeCache(),
        rootOf(last + 1, "00".repeat(32)),
        owners,
      );
      expect(nowhere.isLost).toBe(true);
    } finally {
      await flipByte(database, below);
    }
  });
});

test("a node is stored and read as the same node, and no other bytes are one", () => {
  const node = Array.from({ length: 16 }, (_, n) => {
    if (n % 3 === 0) return null;
    if (n % 3 === 1) return { checkpoint: n * 1e12, hash: sha256(`${n}`) };
    return { key: hexOf(sha256(`key ${n}`)), position: n * 1e12, chain: sha256(`chain ${n}`) };
  });
  const bytes = encodedNode(node);
  expect(decodedNode(bytes)).toEqual(node);
  expect(hashOfNode(decodedNode(bytes) ?? [])).toEqual(hashOfNode(node));
  expect(decodedNode(bytes.subarray(0, -1))).toBeNull();
  expect(decodedNode(Buffer.concat([bytes, Buffer.alloc(1)]))).toBeNull();
  expect(decodedNode(Buffer.alloc(0))).toBeNull();
});
