import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { makePartitions } from "@ostiary/audit/partitions/commands";
import { type PassDeps, sealPass } from "@ostiary/audit/sealing/seal-pass";
import { LogAltered, SealedState } from "@ostiary/audit/sealing/sealed-state";
import { selectState } from "@ostiary/audit/sealing/sealer-state-sql";
import { publishSigningKey } from "@ostiary/audit/signing-key/publish-key";
import { type Checkpoint, checkpointText, hexOf, leafHash, sha256 } from "@ostiary/lib/domain/proof";
import {
  knownSignatures,
  LOG_SIGNATURE,
  readNote,
  readTreeHead,
  rootOfLeaves,
} from "@ostiary/lib/domain/tlog";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { duringTests } from "../../support/during-tests.ts";
import { services } from "../../support/index.ts";
import { json, newLog, sharedAudit, sqlOn, startAudit } from "./audit-service.ts";
import {
  exportProof,
  keysOf,
  startProvenAudit,
  tamperWith,
  writeEvents,
  writeSigningKey,
} from "./proof-bed.ts";
import { dropDeps, writePast } from "./retention-bed.ts";

setDefaultTimeout(60_000);

const ORIGIN = "log.example/tree";
const encoder = new TextEncoder();

/** Computes the root of a tree over checkpoints from the text of each checkpoint. */
function rootOver(checkpoints: readonly Checkpoint[]): string {
  return hexOf(rootOfLeaves(checkpoints.map((each) => leafHash(encoder.encode(checkpointText(each))))));
}

function headOf(note: string | null) {
  const head = readTreeHead(readNote(note ?? "")?.text ?? "");
  if (head === null) throw new Error(`no tree head: ${note}`);
  return { origin: head.origin, size: head.size, root: hexOf(head.root) };
}

describe("the log as tiles", () => {
  const audit = sharedAudit(
    { env: { AUDIT_LOG_ORIGIN: ORIGIN }, databaseUrl: "pglite://memory" },
    startProvenAudit,
  );
  let checkpoints: Checkpoint[];
  beforeAll(async () => {
    for (let n = 0; n < 3; n++) {
      await writeEvents(audit, 1);
      await exportProof(audit);
    }
    const list = await audit.get("/audit-checkpoints?limit=100");
    checkpoints = (await json(list)).audit_checkpoints.toReversed();
  });

  // AU-152
  test("has a root over all checkpoints that the log's key signs, cacheable for two seconds", async () => {
    const answer = await audit.get("/audit-log/checkpoint");
    const note = await answer.text();
    expect(headOf(note)).toEqual({ origin: ORIGIN, size: checkpoints.length, root: rootOver(checkpoints) });
    const [jwk] = await keysOf(audit);
    const publicKey = new Uint8Array(Buffer.from(jwk?.x ?? "", "base64url"));
    const read = readNote(note);
    const key = { name: ORIGIN, type: LOG_SIGNATURE, publicKey } as const;
    expect(read && (await knownSignatures(read, [key]))).toEqual([{ key, isRight: true, timeS: null }]);
    expect(answer.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("Cache-Control")).toBe("public, max-age=2");
    const known = { "If-None-Match": answer.headers.get("ETag") ?? "" };
    expect((await audit.get("/audit-log/checkpoint", known)).status).toBe(304);
  });

  // AU-153
  test("has the hashes and the texts of its checkpoints, at each tile width, cacheable forever", async () => {
    for (let width = 1; width <= checkpoints.length; width++) {
      const tile = await audit.get(`/audit-log/tile/0/000.p/${width}`);
      expect(tile.headers.get("Cache-Control")).toContain("immutable");
      expect(tile.headers.get("Content-Type")).toBe("application/octet-stream");
      const texts = checkpoints.slice(0, width).map(checkpointText);
      const hashes = texts.map((text) => leafHash(encoder.encode(text)));
      expect(Buffer.from(await tile.bytes())).toEqual(Buffer.concat(hashes));
      const bundle = await audit.get(`/audit-log/tile/entries/000.p/${width}`);
      expect(await bundle.bytes()).toEqual(bundled(texts));
    }
  });

  // AU-153
  test.each([
    "/tile/0/000",
    "/tile/0/001",
    "/tile/0/000.p/255",
    "/tile/1/000.p/1",
    "/tile/0/x001/000",
    "/tile/0/x999/x999/999.p/255",
    "/tile/entries/000",
    "/tile/entries/x999/x999/999",
    "/tile/63/x999/x999/999",
  ])("is 404 for a tile that the tree does not reach: %s", async (path) => {
    const answer = await audit.get(`/audit-log${path}`);
    expect([answer.status, (await json(answer)).error.code]).toEqual([404, "NOT_FOUND"]);
    expect(answer.headers.get("Cache-Control") ?? "").not.toContain("immutable");
  });

  // AU-153
  test.each([
    "/tile/0/0",
    "/tile/0/x000/001",
    "/tile/0/000.p/0",
    "/tile/0/000.p/256",
    "/tile/0/000.p",
    "/tile/0/000/1",
    "/tile/00/000",
    "/tile/64/000",
    "/tile/data/000",
    "/tile/0/%00",
    "/tile/0/000?width=3",
    "/checkpoint?size=3",
  ])("is 422 for a malformed tile path and for query parameters: %s", async (path) => {
    const answer = await audit.get(`/audit-log${path}`);
    expect([answer.status, (await json(answer)).error.code]).toEqual([422, "VALIDATION_ERROR"]);
  });
});

function bundled(texts: readonly string[]): Uint8Array {
  const parts = texts.map((text) => {
    const bytes = encoder.encode(text);
    return Buffer.from([bytes.length >> 8, bytes.length & 255, ...bytes]);
  });
  return new Uint8Array(Buffer.concat(parts));
}

// AU-152
test("without a key there is no signed root, but the tree still grows", async () => {
  await using audit = await startAudit({ env: { SEAL_INTERVAL_MS: "100" }, databaseUrl: "pglite://memory" });
  await writeEvents(audit, 2);
  await exportProof(audit);
  expect((await audit.get("/audit-log/checkpoint")).status).toBe(404);
  expect((await audit.get("/audit-log/tile/0/000.p/1")).status).toBe(200);
});

/** A log without a running service. The test calls each sealing pass itself. */
class SealedLog implements AsyncDisposable {
  readonly log: Database;
  readonly #deps: PassDeps;

  private constructor(log: Database, deps: PassDeps) {
    this.log = log;
    this.#deps = deps;
  }

  static async open(keyFile: string | null): Promise<SealedLog> {
    const log = await newLog();
    await makePartitions(log, Date.now());
    const deps = { ...(await dropDeps(log, keyFile)), origin: ORIGIN };
    if (deps.key !== null) await publishSigningKey(log, deps.key);
    return new SealedLog(log, deps);
  }

  /** Seals as a newly started process, until nothing is left to seal. Returns the number of passes. */
  async seal(changes: Partial<PassDeps> = {}): Promise<number> {
    const deps = { ...this.#deps, sealed: new SealedState(this.log), ...changes };
    for (let passes = 1; ; passes++) {
      if ((await sealPass(deps, await selectState(this.log))).end !== "behind") return passes;
    }
  }

  /** Runs one sealing pass in each of several processes at once, all from the same state. */
  async sealAtOnce(processes: number): Promise<string[]> {
    const state = await selectState(this.log);
    const passes = Array.from({ length: processes }, () =>
      sealPass({ ...this.#deps, sealed: new SealedState(this.log) }, state),
    );
    return (await Promise.all(passes)).map(({ end }) => end);
  }

  /** Writes an event and seals it, which adds one checkpoint. */
  async grow(changes: Partial<PassDeps> = {}): Promise<void> {
    await writePast(this.log, "organization-1", new Date().toISOString(), 1);
    await this.seal(changes);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.log.close();
  }

  async checkpoints(): Promise<Checkpoint[]> {
    const found = await sqlOn(this.log)<Checkpoint>`
      select number, sealed_at, encode(previous, 'hex') as previous, encode(map, 'hex') as map, jws
        from audit.checkpoints order by number`;
    return found.map((each) => ({ ...each, sealed_at: new Date(each.sealed_at).toISOString() }));
  }

  /** Returns the signed root, the stored hashes, and the root over the stored checkpoints. */
  async tree() {
    const { note, tree_size } = await selectState(this.log);
    const [found] = await sqlOn(this.log)<{ hashes: string }>`
      select string_agg(encode(hashes, 'hex'), ' ' order by number) as hashes from audit.checkpoint_tree`;
    return { note, tree_size, hashes: found?.hashes ?? "", root: rootOver(await this.checkpoints()) };
  }
}

/** The tables that {@link tampered} restores. */
const KEPT = ["checkpoints", "checkpoint_tree"] as const;

/** Runs statements as the owner of the tables, calls `work`, and restores the tables and the signed root. */
async function tampered(sealed: SealedLog, statements: string, work: () => Promise<void>): Promise<void> {
  const { note } = await selectState(sealed.log);
  const keep = KEPT.map((table) => `create table audit.kept_${table} as select * from audit.${table}`);
  await tamperWith(sealed.log, `${keep.join(";")};${statements}`);
  try {
    await work();
  } finally {
    const back = KEPT.map(
      (table) =>
        `delete from audit.${table}; insert into audit.${table} select * from audit.kept_${table}; drop table audit.kept_${table}`,
    );
    await tamperWith(sealed.log, `${back.join(";")};update audit.sealer set note = '${note}'`);
  }
}

describe("the tree of a signed log", () => {
  const sealed = duringTests(async () => {
    const opened = await SealedLog.open(writeSigningKey());
    for (let n = 0; n < 5; n++) await opened.grow();
    return opened;
  });

  // AU-154
  test("gets the same hashes and the same signed root when it is rebuilt from existing checkpoints", async () => {
    const before = await sealed.tree();
    expect(headOf(before.note)).toEqual({ origin: ORIGIN, size: before.tree_size, root: before.root });
    const gone = "delete from audit.checkpoint_tree; update audit.sealer set note = null";
    await tampered(sealed, gone, async () => {
      await sealed.seal();
      expect(await sealed.tree()).toEqual(before);
    });
  });

  // AU-154
  test("is extended only by the service, never by a process that drops months", async () => {
    const { tree_size } = await sealed.tree();
    await sealed.grow({ origin: null });
    await sealed.grow({ origin: null });
    expect((await sealed.tree()).tree_size).toBe(tree_size);
    await sealed.grow();
    const after = await sealed.tree();
    expect(after.tree_size).toBe(tree_size + 3);
    expect(headOf(after.note)).toEqual({ origin: ORIGIN, size: tree_size + 3, root: after.root });
  });

  const LAST = "number = (select max(number) from audit.checkpoint_tree)";

  // AU-155
  test.each([
    [
      "with another hash at its edge",
      `update audit.checkpoint_tree set hashes = overlay(hashes placing sha256('x') from length(hashes) - 31) where ${LAST}`,
      "is not what was signed",
    ],
    ["that lost its last leaf", `delete from audit.checkpoint_tree where ${LAST}`, "is not what was signed"],
    [
      "whose hashes are cut",
      `update audit.checkpoint_tree set hashes = substring(hashes from 1 for 20) where ${LAST}`,
      "has lost hashes",
    ],
    [
      "that is longer than its signed root",
      "insert into audit.checkpoint_tree (number, hashes) select max(number) + 1, decode(repeat('00', 2048), 'hex') from audit.checkpoint_tree",
      "is not what was signed",
    ],
    ["without its signed root", "update audit.sealer set note = null", "The signed root"],
    [
      "under a root that another key signed",
      "update audit.sealer set note = overlay(note placing 'AA' from length(note) - 20)",
      "is not what was signed",
    ],
    ["under a root that is not a note", "update audit.sealer set note = 'x'", "is not a note"],
  ])("%s is not extended, and nothing is sealed", async (_, statements, reason) => {
    const before = (await sealed.checkpoints()).length;
    await writePast(sealed.log, "organization-1", new Date().toISOString(), 1);
    await tampered(sealed, statements, () => refused(sealed, reason));
    expect((await sealed.checkpoints()).length).toBe(before);
    await sealed.seal();
    expect((await sealed.checkpoints()).length).toBe(before + 1);
  });

  // AU-155
  test.each([
    [
      "was changed",
      "update audit.checkpoints set sealed_at = sealed_at - interval '1 day' where number = $N",
    ],
    ["is missing", "delete from audit.checkpoints where number = $N"],
    ["lost its signature", "update audit.checkpoints set jws = null where number = $N"],
    [
      "has the text of another one",
      "update audit.checkpoints set jws = (select jws from audit.checkpoints where number = 1) where number = $N",
    ],
  ])("gets no leaf for a checkpoint that %s", async (_, statement) => {
    for (const number of [2, 3]) {
      const gone = `delete from audit.checkpoint_tree; update audit.sealer set note = null;
        ${statement.replaceAll("$N", String(number))}`;
      await tampered(sealed, gone, () =>
        refused(sealed, `Checkpoint ${number} is not the one that was signed`),
      );
    }
    await sealed.grow();
    const { note, root } = await sealed.tree();
    expect(headOf(note).root).toBe(root);
  });
});

async function refused(sealed: SealedLog, reason: string): Promise<void> {
  const error = await sealed.seal().then(
    () => null,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(LogAltered);
  expect(String(error)).toContain(reason);
}

// AU-154
test("a tree over thousands of checkpoints is built in steps, while new ones are sealed", async () => {
  await using sealed = await SealedLog.open(null);
  await sealed.grow();
  await writeChain(sealed, 2_300);
  await writePast(sealed.log, "organization-1", new Date().toISOString(), 1);
  const passes = await sealed.seal();
  const { tree_size, hashes } = await sealed.tree();
  const newest = (await sealed.checkpoints()).length;
  expect([passes, tree_size, newest]).toEqual([4, 2_302, 2_302]);
  const stored = hashes.split(" ").map((text) => text.length / 64);
  expect([stored[2_047], stored[2_301], stored[0]]).toEqual([12, 2, 1]);
});

/** Adds unsigned checkpoints after the first one, all with the same map of heads. */
async function writeChain(sealed: SealedLog, count: number): Promise<void> {
  const [first] = await sealed.checkpoints();
  const made: Checkpoint[] = [];
  for (let last = first; last !== undefined && made.length < count; last = made.at(-1)) {
    made.push({ ...last, number: last.number + 1, previous: hexOf(sha256(checkpointText(last))) });
  }
  await sqlOn(sealed.log)`
    with written as (
      insert into audit.checkpoints (number, sealed_at, previous, map, jws)
      select number, sealed_at, decode(previous, 'hex'), decode(map, 'hex'), jws
      from json_to_recordset(${JSON.stringify(made)}::text::json) as given(
      number bigint, sealed_at timestamptz, previous text, map text, jws text)
      )
      insert into audit.head_map (checkpoint, path, node)
      select ${1 + count}::integer, path, node from audit.head_map where checkpoint = 1`;
}

// AU-154
test.skipIf(!services().postgres.real)(
  "four sealers that start from the same state at once write one tree",
  async () => {
    await using sealed = await SealedLog.open(null);
    for (let round = 1; round <= 3; round++) {
      await writePast(sealed.log, "organization-1", new Date().toISOString(), 2);
      expect((await sealed.sealAtOnce(4)).toSorted()).toEqual(["done", "lost", "lost", "lost"]);
      const { tree_size, checkpoint } = await selectState(sealed.log);
      expect([tree_size, checkpoint?.number]).toEqual([round, round]);
    }
  },
);
