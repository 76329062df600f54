/** Tests how the audit service asks witnesses to cosign the roots of its tree of checkpoints. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { type Clock, systemClock } from "@ostiary/lib/async";
import type { ProofEnd } from "@ostiary/lib/contracts/audit";
import { type EnglishVerdict, readWitnessKeys } from "@ostiary/lib/verification";
import { deleteOldCosignatures } from "../../../apps/audit/witnesses/sql.ts";
import { services, waitFor } from "../../support/index.ts";
import { listenLocally } from "../../support/listen-locally.ts";
import { keyId, publicBytes, verifierKeyText } from "../../support/test-log.ts";
import { cosignedAt, newWitness, startWitness, WITNESS } from "../witness/witness-bed.ts";
import { type AuditService, intent, openLog, requestId, sqlOn, startAudit } from "./audit-service.ts";
import {
  cloned,
  exportProof,
  exportText,
  NOTHING_KEPT,
  verify,
  writeKeyFile,
  writeSigningKey,
} from "./proof-bed.ts";

setDefaultTimeout(120_000);

const ORIGIN = "audit.example.com/log";
const SOON = { timeoutMs: 60_000 };
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

interface Entry {
  name: string;
  url: string;
  key: string;
}

/** Starts a witness that knows the key of a log. Returns the key file for the service, and the witness. */
async function witnessedLog() {
  const keyFile = writeSigningKey();
  const publicKey = publicBytes(createPrivateKey(readFileSync(keyFile, "utf8")));
  const files = await newWitness([{ origin: ORIGIN, verifier_key: verifierKeyText(ORIGIN, 1, publicKey) }]);
  const witness = await startWitness(files);
  ended.push(() => witness[Symbol.asyncDispose]());
  const entry: Entry = { name: "w1", url: witness.url, key: files.verifier_key };
  return { keyFile, files, witness, entry };
}

async function startWitnessed(
  keyFile: string,
  witnesses: readonly Entry[],
  {
    databaseUrl,
    quorum = 1,
    clock = systemClock,
  }: { databaseUrl?: string; quorum?: number; clock?: Clock } = {},
): Promise<AuditService & { log(): string }> {
  const logFile = writeKeyFile("");
  const audit = await startAudit({
    clock,
    ...(databaseUrl !== undefined && { databaseUrl }),
    env: {
      SEAL_INTERVAL_MS: "50",
      AUDIT_SIGNING_KEY_FILE: keyFile,
      AUDIT_LOG_ORIGIN: ORIGIN,
      AUDIT_WITNESSES_FILE: writeKeyFile(JSON.stringify({ witnesses })),
      AUDIT_WITNESS_QUORUM: String(quorum),
      AUDIT_WITNESS_INTERVAL_MS: "100",
      AUDIT_STREAM_ALLOW_HTTP: "true",
      AUDIT_STREAM_ALLOWED_NETWORKS: "127.0.0.0/8",
      AUDIT_STREAM_ALLOWED_PORTS: witnesses.map(({ url }) => new URL(url).port).join(","),
      LOG_FILE: logFile,
    },
  });
  ended.push(() => audit.stop());
  return { ...audit, log: () => readFileSync(logFile, "utf8") };
}

async function write(audit: AuditService): Promise<void> {
  expect((await audit.put(requestId(), intent())).status).toBe(201);
}

interface Root {
  size: number;
  text: string;
  signatures: string[];
}

/** Returns the signed root that the service serves, or null if it has none yet. */
async function servedRoot(audit: AuditService): Promise<Root | null> {
  const response = await audit.get("/audit-log/checkpoint");
  if (response.status === 404) return null;
  const note = await response.text();
  const end = note.lastIndexOf("\n\n");
  const text = note.slice(0, end + 1);
  return {
    size: Number(text.split("\n")[1]),
    text,
    signatures: note
      .slice(end + 2)
      .trimEnd()
      .split("\n"),
  };
}

/** Waits until the service serves a root of at least this size with a cosignature of the witness. */
function cosigned(audit: AuditService, { key }: Entry, size = 1): Promise<Root> {
  return waitFor(async () => {
    const root = await servedRoot(audit);
    const isCosigned = root?.signatures.some((line) => cosignedAt(line, root.text, key) !== null);
    return isCosigned && root !== null && root.size >= size ? root : null;
  }, SOON);
}

async function gauge({ internalUrl }: AuditService, name: string): Promise<number | null> {
  const text = await (await fetch(`${internalUrl}/metrics`)).text();
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
  return value === undefined ? null : Number(value);
}

/** Starts a fake witness with a new key. `answer` responds to each add-checkpoint request. */
function startFake(
  name: string,
  answer: (body: string, key: FakeKey) => Response | Promise<Response>,
): Entry {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key: FakeKey = {
    text: verifierKeyText(name, 4, publicBytes(privateKey)),
    line(text, timeS = Math.floor(Date.now() / 1_000)) {
      const time = Buffer.alloc(8);
      time.writeBigUInt64BE(BigInt(timeS));
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${timeS}\n${text}`), privateKey);
      const bytes = Buffer.concat([keyId(name, 4, publicBytes(privateKey)), time, signature]);
      return `— ${name} ${bytes.toString("base64")}\n`;
    },
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 120,
    fetch: async (request) => answer(await request.text(), key),
  });
  ended.push(() => server.stop(true));
  return { name, url: `http://127.0.0.1:${server.port}`, key: key.text };
}

interface FakeKey {
  text: string;
  /** Returns a cosignature of a text. */
  line(text: string, timeS?: number): string;
}

/** Returns the text of the root in the body of an add-checkpoint request. */
function rootText(body: string): string {
  return body.slice(body.indexOf("\n\n") + 2, body.lastIndexOf("\n\n") + 1);
}

describe("a root of the tree of checkpoints", () => {
  // AU-171, AU-172
  test("gets the cosignature of a witness, and so does each later root, even after a restart", async () => {
    const { keyFile, entry, files } = await witnessedLog();
    const audit = await startWitnessed(keyFile, [entry]);
    await write(audit);
    const first = await cosigned(audit, entry);
    await write(audit);
    const second = await cosigned(audit, entry, first.size + 1);
    expect(second.text.split("\n")[0]).toBe(ORIGIN);
    // This service starts without any state about the witness.
    const again = await startWitnessed(keyFile, [entry], { databaseUrl: audit.databaseUrl });
    await write(again);
    const third = await cosigned(again, entry, second.size + 1);
    expect((await files.state()).logs[0]?.size).toBeGreaterThanOrEqual(third.size);
    expect(await gauge(again, "audit_witness_conflicts")).toBe(0);
    expect(await gauge(again, "audit_witnesses_behind")).toBe(0);
  });

  // AU-172
  test("is served without cosignatures until a quorum has cosigned one", async () => {
    const { keyFile, entry } = await witnessedLog();
    let isAway = true;
    const second = startFake("late.example.com", (body, key) =>
      isAway ? new Response(null, { status: 503 }) : new Response(key.line(rootText(body))),
    );
    const audit = await startWitnessed(keyFile, [entry, second], { quorum: 2 });
    await write(audit);
    await waitFor(() => audit.log().includes("late.example.com"), SOON);
    expect((await waitFor(() => servedRoot(audit), SOON)).signatures).toHaveLength(1);
    isAway = false;
    const root = await cosigned(audit, second);
    expect(root.signatures.map((line) => line.split(" ")[1])).toEqual(
      expect.arrayContaining([ORIGIN, WITNESS, "late.example.com"]),
    );
  });
});

type CosignedPart = NonNullable<NonNullable<ProofEnd["tree"]>["cosigned"]>;

/** Verifies an export, and requires a cosignature of this witness. */
function verdictOn(text: string, { key }: Entry): Promise<EnglishVerdict> {
  const rule = { keys: readWitnessKeys(key), quorum: 1, nowMs: Date.now() };
  return verify(text, null, NOTHING_KEPT, rule);
}

/** Waits until an export has a root that the witness cosigned, and returns that export. */
function seenExport(audit: AuditService, entry: Entry): Promise<{ end: ProofEnd; cosigned: CosignedPart }> {
  return waitFor(async () => {
    const { text, end } = await exportProof(audit);
    const { result, witnesses } = await verdictOn(text, entry);
    const cosigned = end.tree?.cosigned;
    if (result !== "complete" || cosigned === undefined) return null;
    expect(witnesses).toMatchObject({ lack: null, witnesses: [{ name: WITNESS }] });
    expect(witnesses?.size).toBeGreaterThanOrEqual(end.checkpoint?.number ?? 0);
    return { end, cosigned };
  }, SOON);
}

/**
 * Expects that a log with a forged history has no valid export: not as served, not without a cosigned root,
 * and not with the cosigned root or the cosignature of the first history.
 */
async function expectUnseen(audit: AuditService, entry: Entry, first: CosignedPart): Promise<void> {
  const read = await exportProof(audit);
  expect((await verify(read.text)).result).toBe("complete");
  expect(await verdictOn(read.text, entry)).toMatchObject({ result: "unwitnessed" });
  const { tree } = read.end;
  if (tree === undefined) throw new Error("The export has no tree.");
  const { cosigned: _, ...bare } = tree;
  const shown = (part: ProofEnd["tree"]) =>
    verdictOn(exportText({ ...read, end: { ...read.end, tree: part } }), entry);
  expect(await shown(bare)).toMatchObject({
    result: "unwitnessed",
    witnesses: { lack: { code: "not_cosigned" } },
  });
  expect(await shown({ ...bare, cosigned: first })).toMatchObject({ result: "altered" });
  const lines = first.note.slice(first.note.indexOf("\n\n") + 2).split("\n");
  const cosignature = lines.find((line) => line.startsWith(`— ${WITNESS} `));
  const moved = { note: `${bare.note}${cosignature}\n`, consistency: [] };
  expect(await shown({ ...bare, cosigned: moved })).toMatchObject({ result: "altered" });
}

describe("an export with proof", () => {
  // AU-195, AU-196
  test("has a root that the witness cosigned and that covers the export's checkpoint", async () => {
    const { keyFile, entry } = await witnessedLog();
    const audit = await startWitnessed(keyFile, [entry]);
    await write(audit);
    const first = await seenExport(audit, entry);
    await write(audit);
    const second = await seenExport(audit, entry);
    expect(second.end.checkpoint?.number).toBeGreaterThan(first.end.checkpoint?.number ?? 0);
  });

  // AU-195, AU-196
  test("has no cosigned root if no witness responds", async () => {
    const silent = startFake("silent", () => new Promise(() => {}));
    const audit = await startWitnessed(writeSigningKey(), [silent]);
    await write(audit);
    const { text, end } = await exportProof(audit);
    expect([end.tree?.note.startsWith(ORIGIN), end.tree?.cosigned]).toEqual([true, undefined]);
    expect(await verdictOn(text, silent)).toMatchObject({ result: "unwitnessed" });
  });

  // AU-48, AU-196
  test("frees its slot when the client disconnects while it waits for witnesses", async () => {
    const silent = startFake("silent", () => new Promise(() => {}));
    // No time passes on this clock, so the wait for witnesses never times out.
    const clock = { ...systemClock, elapsedMs: () => 0 };
    const audit = await startWitnessed(writeSigningKey(), [silent], { clock });
    await write(audit);
    const path = "/organizations/organization-1/audit-events/export?format=ndjson&proof=true";
    // One log has fewer than four slots, so each export must free its slot for the next one.
    for (let n = 0; n < 4; n++) {
      const client = new AbortController();
      const response = await waitFor(async () => {
        const found = await fetch(`${audit.url}${path}`, { signal: client.signal });
        if (found.status === 200) return found;
        await found.text();
        return null;
      }, SOON);
      const first = await response.body?.getReader().read();
      expect(Buffer.from(first?.value ?? []).toString()).toContain("organization-1");
      client.abort();
    }
  });

  // AU-197, AU-198, AU-201
  test.skipIf(!services().postgres.real)(
    "is refused if the log was restored from a backup and continued differently, although its own key signed it",
    async () => {
      const { keyFile, entry } = await witnessedLog();
      const original = await startWitnessed(keyFile, [entry]);
      await write(original);
      await seenExport(original, entry);
      await original.stop();
      const backup = await cloned(original.databaseUrl);
      const longer = await startWitnessed(keyFile, [entry], { databaseUrl: original.databaseUrl });
      await write(longer);
      const { cosigned: first } = await seenExport(longer, entry);
      await longer.stop();
      const fork = await startWitnessed(keyFile, [entry], { databaseUrl: backup });
      for (let n = 0; n < 2; n++) await write(fork);
      await expectUnseen(fork, entry, first);
    },
  );
});

// AU-173, AU-197, AU-198, AU-201
test("a log that was rewritten with its own key gets no cosignature, and the service logs it", async () => {
  const { keyFile, entry } = await witnessedLog();
  const original = await startWitnessed(keyFile, [entry]);
  for (let n = 0; n < 3; n++) {
    await write(original);
    await cosigned(original, entry, n + 1);
  }
  const before = await seenExport(original, entry);
  await original.stop();
  const rewritten = await startWitnessed(keyFile, [entry]);
  const MESSAGE = "a witness says that the audit log does not continue what the witness cosigned";
  await write(rewritten);
  await waitFor(() => rewritten.log().includes(MESSAGE), SOON);
  // The rewritten log grows beyond the size that the witness knows.
  for (let size = 1; size <= 5; size++) {
    await write(rewritten);
    await waitFor(async () => ((await servedRoot(rewritten))?.size ?? 0) >= size + 1, SOON);
  }
  const conflict = /the witness (does not accept the proof from|cosigned) size/;
  await waitFor(() => conflict.test(rewritten.log()), SOON);
  await expectUnseen(rewritten, entry, before.cosigned);
  expect((await servedRoot(rewritten))?.signatures).toHaveLength(1);
  expect(await gauge(rewritten, "audit_witness_conflicts")).toBe(1);
});

// AU-174
test("no cosignature of a faulty witness is stored, and faulty witnesses do not delay others", async () => {
  const { keyFile, entry } = await witnessedLog();
  const reset = createServer((socket) => socket.on("data", () => socket.resetAndDestroy()));
  const port = await listenLocally(reset);
  ended.push(() => reset.close());
  const honest = (body: string, key: FakeKey) => key.line(rootText(body));
  const bad: Entry[] = [
    { ...startFake("reset", () => new Response()), url: `http://127.0.0.1:${port}` },
    startFake("silent", () => new Promise(() => {})),
    startFake("empty", () => new Response("")),
    startFake("garbage", () => new Response(Buffer.from([0xff, 0x00, 0xfe]))),
    startFake("huge", (body, key) => new Response(honest(body, key).repeat(100))),
    startFake("redirects", () => Response.redirect(entry.url, 307)),
    startFake("other-note", (_, key) => new Response(key.line(`${ORIGIN}\n7\n${"A".repeat(43)}=\n`))),
    startFake("old-time", (body, key) => new Response(key.line(rootText(body), 1_679_315_147))),
    startFake("no-size", () => new Response("many\n", { status: 409 })),
    startFake(
      "never-content",
      (body) => new Response(`${body.startsWith("old 0") ? 1 : 0}\n`, { status: 409 }),
    ),
    startFake("unknown", () => new Response(null, { status: 404 })),
  ];
  const audit = await startWitnessed(keyFile, [...bad, entry]);
  await write(audit);
  const root = await cosigned(audit, entry);
  expect(root.signatures).toHaveLength(2);
  const answering = bad.filter(({ name }) => name !== "silent");
  await waitFor(() => answering.every(({ name }) => audit.log().includes(`"witness":"${name}"`)), SOON);
  await write(audit);
  await cosigned(audit, entry, root.size + 1);
});

describe.skipIf(!services().postgres.real)("a log on PostgreSQL", () => {
  // AU-174
  test("says in its warning if it lacks hashes of the proof for a witness", async () => {
    const [isAsked, isCut] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const witness = startFake("slow", async (body, key) => {
      isAsked.resolve();
      await isCut.promise;
      return new Response(key.line(rootText(body)));
    });
    const audit = await startWitnessed(writeSigningKey(), [witness]);
    for (let size = 1; size <= 3; size++) {
      await write(audit);
      await waitFor(async () => ((await servedRoot(audit))?.size ?? 0) >= size, SOON);
      await isAsked.promise;
    }
    const log = await openLog(audit);
    ended.push(() => log.close());
    const sql = sqlOn(log);
    await sql`alter table audit.checkpoint_tree disable trigger no_change`;
    await sql`delete from audit.checkpoint_tree where number = 2`;
    isCut.resolve();
    const reason = '"reason":"The log lacks hashes of the proof from size 1."';
    await waitFor(() => audit.log().includes(reason), SOON);
  });

  // AU-172
  test("keeps the newest root with a quorum, and the 1000 largest of the newer ones", async () => {
    const audit = await startAudit();
    ended.push(() => audit.stop());
    const log = await openLog(audit);
    ended.push(() => log.close());
    const sql = sqlOn(log);
    const kept = async (newest: number) => {
      await sql`delete from audit.cosignatures`;
      await sql`insert into audit.cosignatures (size, note, witness, line, cosigned_at)
        select size, 'note', 'witness', 'line', now() from generate_series(1, 1500) as size`;
      await deleteOldCosignatures(log, newest);
      const [found] = await sql`select count(*)::integer as count, min(size)::integer as first,
        (min(size) filter (where size > ${String(newest)}::text::bigint))::integer as newer from audit.cosignatures`;
      return found;
    };
    expect(await kept(0)).toEqual({ count: 1_000, first: 501, newer: 501 });
    expect(await kept(100)).toEqual({ count: 1_001, first: 100, newer: 501 });
    expect(await kept(600)).toEqual({ count: 901, first: 600, newer: 601 });
  });
});
