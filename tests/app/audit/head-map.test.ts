import { beforeAll, describe, expect, test } from "bun:test";
import {
  type Head,
  hashFromHex,
  hexOf,
  isInMap,
  type MapProof,
  sha256,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { HeadMap, NodeCache, rootOf } from "../../../apps/audit/proof/heads/head-map.ts";
import { MapNode } from "../../../apps/audit/proof/heads/node.ts";
import { selectProvenHeads } from "../../../apps/audit/proof/heads/proofs.ts";
import { proofIn } from "../../support/audit/proof-log.ts";
import { duringTests } from "../../support/during-tests.ts";
import { newLog } from "./bed.ts";

/** A stored node with 10 slots, and its hash. */
const STORED = {
  hash: "4df35022b410fde405ecabe5d81b25f8706840d02e558e97e1b24ae68406e3bc",
  node: "bbZJJAAAAOjUpRAAa4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0sI8iX+COlKWx2i2kB5/NGnZH03XMlWJKbG1lpvyEsyQwAAAdGpSiAAR/HQ8qv1yERdYPthNI4As5NE8M81bXJWUikakwivQPUAAAOjUpRAAEsid3fU3R/GHG+IT0hkHQK00SHT/TKMsItVMfys2r+KT+ycBbf225wbX911vFEH8lfT4o+csTE8d5f0mEOLQm8AAASMJzlQAP+Jt0urQ+UbGPiq+dZHiUIrrMzcIToaGYA0eTueTcExAAAGXdCDcAB5Ammb5CyKjkb7u0UBcmUX6GsixWoYn3YlptpJCBskUb0IOsy/ou1XJzzvl24K31cU1eksX2RBFuv/4G9ODOQHAAAHRqUogACLhVAirhyI+W0WLPPb+zfeVfTFmdg1kui0RFnfphR1CwAACRhOcqAASkTcFTZCBKgP6A6QOUVcwWCCgYIP4rJPHlIzreavHdWvGPTrrlrSY73RfZYEe+8mQcz8xcFYkbqJV/mqQytD1QAACgEjF7AAQQwo45lzirW5W1B+i9PoyHuZmktxyqD4ABkdGxhYh40AAAvSzGHQAD/bo18E3IxGKYbJkrz4dVRiVxEwcqkJwWL35HDlgeJ4HEcnD6KeGwbadyQVEHhAfESqH288Plf4L6SRRBD0CvoAAAy7oQbgAHHsPG1JxRiFzmHNksvISGaqLW9/x1Alm3ukM6H0XgUG",
};

/** Writes the nodes of a leaf, as a sealing pass does. */
async function write(database: Database, version: number, nodes: readonly { path: string; node: string }[]) {
  await database.run("write_nodes", (orm) =>
    rows(
      orm,
      sql`insert into audit.head_map (version, path, node)
        select ${version}::bigint, path, decode(node, 'base64')
        from json_to_recordset(${JSON.stringify(nodes)}::text::json) as given(path text, node text)`,
    ),
  );
}

/** Seals heads as the leaf after `before`. Returns the number and the root of the new leaf. */
async function seal(
  database: Database,
  cache: NodeCache,
  before: { number: number; root: string } | null,
  heads: readonly Head[],
): Promise<{ number: number; root: string }> {
  const number = (before?.number ?? 0) + 1;
  const root = before === null ? null : rootOf({ number: before.number, map: before.root });
  const owners = heads.map(({ owner }) => owner);
  const map = await database.run("open_map", (orm) => HeadMap.open(orm, cache, root, owners));
  for (const head of heads) map.set(head.owner, head);
  const sealed = map.sealed(number);
  await write(database, number, sealed.nodes);
  return { number, root: hexOf(sealed.root) };
}

/** Inverts a byte of a stored node. A second call restores the node. */
async function flipByte(database: Database, { path, version }: { path: string; version: number }) {
  await database.transaction("tamper", async (tx) => {
    await rows(tx, sql`alter table audit.head_map disable trigger no_change`);
    await rows(
      tx,
      sql`update audit.head_map set node = set_byte(node, 20, 255 - get_byte(node, 20))
        where path = ${path} and version = ${version}::integer`,
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

/**
 * Expects that a proof shows `expected` and no other head, and that an edit of the proof's path makes the
 * proof invalid.
 */
function expectProof(expected: Head, map: MapProof, root: Uint8Array): void {
  expect(isInMap(expected, map, root)).toBe(true);
  const wrong = [
    { ...expected, position: expected.position + 1 },
    { ...expected, chain: sha256("x") },
    // A proof that one owner has no head can hold for another owner too, so position 0 is skipped.
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
  const database = duringTests(newLog);
  const sealedRoots: string[] = [];
  const states: Map<string, Head>[] = [];

  beforeAll(async () => {
    const cache = new NodeCache();
    const heads = new Map<string, Head>();
    let last: { number: number; root: string } | null = null;
    for (let number = 1; number <= 12; number++) {
      // The first leaf covers one log. Later ones cover up to hundreds of logs, both new and known
      // ones.
      const moved = number === 1 ? 1 : number * 30;
      for (let n = 0; n < moved; n++) {
        const owner = `organization:${(n * 7 * number) % 600}`;
        heads.set(owner, head(owner, number));
      }
      const changed = [...heads.values()].filter(({ position }) => position === number);
      // A replica with an empty cache seals every third leaf.
      last = await seal(database, number % 3 === 0 ? new NodeCache() : cache, last, changed);
      sealedRoots.push(last.root);
      states.push(new Map(heads));
    }
  });
  // AU-140
  test("has the root over all heads, whichever replica sealed the earlier leafs", () => {
    expect(sealedRoots).toEqual(states.map((heads) => hexOf(proofIn(heads, "").root)));
  });

  // AU-141
  test("proves the head of each owner under each leaf, or that the owner had none", async () => {
    const roots = sealedRoots.map((map, index) => rootOf({ number: index + 1, map }));
    for (const owner of Array.from({ length: 40 }, (_, n) => `organization:${n * 17}`)) {
      const proven = await database.run("prove", (orm) => selectProvenHeads(orm, owner, roots));
      for (const [index, found] of proven.entries()) {
        const root = hashFromHex(sealedRoots[index] ?? "");
        const expected = states[index]?.get(owner) ?? none(owner);
        expect([found?.position, found?.chain]).toEqual([expected.position, hexOf(expected.chain)]);
        if (found === null) throw new Error(`No head of ${owner} was found.`);
        expectProof(expected, found.map, root);
      }
    }
  });

  // AU-142
  test("reports the owners below a damaged node as lost, and still finds all other heads", async () => {
    const last = sealedRoots.length;
    const [below] = await database.run("look", (orm) =>
      rows<{ path: string; version: number }>(
        orm,
        sql`select path, max(version)::integer as version from audit.head_map where length(path) = 1
          group by path order by path limit 1`,
      ),
    );
    if (below === undefined) throw new Error("The map has no node below its root.");
    const heads = [...(states.at(-1)?.values() ?? [])];
    const isBelow = ({ owner }: Head) => hexOf(sha256(owner)).startsWith(below.path);
    const [inside, outside] = [heads.filter(isBelow), heads.filter((each) => !isBelow(each))];
    await flipByte(database, below);
    try {
      const root = rootOf({ number: last, map: sealedRoots.at(-1) ?? "" });
      const owners = heads.map(({ owner }) => owner);
      const open = (from: typeof root) =>
        database.run("open_map", (orm) => HeadMap.open(orm, new NodeCache(), from, owners));
      const map = await open(root);
      expect(map.isLost).toBe(false);
      expect(inside.map(({ owner }) => map.headOf(owner))).toEqual(inside.map(() => "lost"));
      for (const each of outside) expect(map.headOf(each.owner)).toMatchObject({ position: each.position });
      const nowhere = await open(rootOf({ number: last + 1, map: "00".repeat(32) }));
      expect(nowhere.isLost).toBe(true);
    } finally {
      await flipByte(database, below);
    }
  });
});

describe("a node of the map", () => {
  test("is read from its stored bytes, with the same hash", () => {
    const read = MapNode.read(Buffer.from(STORED.node, "base64"));
    expect(hexOf(read?.hash ?? ZERO_HASH)).toBe(STORED.hash);
    expect(Array.from({ length: 3 }, (_, index) => read?.slot(index))).toEqual([
      null,
      { version: 1e12, hash: sha256("1") },
      { key: hexOf(sha256("key 2")), position: 2e12, chain: sha256("chain 2") },
    ]);
  });

  test("is not read from bytes that are cut, too long or empty", () => {
    const bytes = Buffer.from(STORED.node, "base64");
    expect(MapNode.read(bytes.subarray(0, -1))).toBeNull();
    expect(MapNode.read(Buffer.concat([bytes, Buffer.alloc(1)]))).toBeNull();
    expect(MapNode.read(Buffer.alloc(0))).toBeNull();
    expect(MapNode.read(Buffer.alloc(3))).toBeNull();
  });
});
