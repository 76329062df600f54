import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { proofChunks } from "@ostiary/audit/exports/proof";
import { makePartitions } from "@ostiary/audit/partitions/commands";
import { type PassDeps, sealPass } from "@ostiary/audit/sealing/seal-pass";
import { selectState } from "@ostiary/audit/sealing/sealer-state-sql";
import { loadSigningKey } from "@ostiary/audit/signing-key/key-file";
import { systemClock } from "@ostiary/lib/async";
import { type Checkpoint, hashFromHex, hexOf, signedCheckpoint, ZERO_HASH } from "@ostiary/lib/domain/proof";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { headTree, inTreeOrder } from "../../support/audit/trees-of-heads.ts";
import { services, waitFor } from "../../support/index.ts";
import { intent, json, logOf, newLog, openLog, requestId, sharedAudit, sqlOn } from "./audit-service.ts";
import {
  exportProof,
  exportText,
  keysOf,
  readExport,
  sharedProvenLog,
  startProvenAudit,
  verify,
  writeEvents,
  writeSigningKey,
} from "./proof-bed.ts";
import { dropDeps, makeMonth, writePast } from "./retention-bed.ts";

setDefaultTimeout(60_000);

/** Runs sealing passes with the clock at `time`, until nothing is left to seal. */
async function sealAt(deps: PassDeps, time: string): Promise<void> {
  const clock = { ...systemClock, now: () => Date.parse(time) };
  while ((await sealPass({ ...deps, clock }, await selectState(deps.writes))).end === "behind");
}

// AU-141, AU-143
test("an export has the head under each day's last checkpoint, and the verifier names days without one", async () => {
  await using log = await newLog("pglite://memory");
  await makePartitions(log, Date.now());
  await makeMonth(log, "2026-01");
  const deps = await dropDeps(log, null);
  for (const [day, hour] of [
    ["10", "08"],
    ["10", "20"],
    ["11", "09"],
    ["13", "10"],
  ]) {
    await writePast(log, "organization-1", `2026-01-${day}T${hour}:00:00Z`, 2);
    await writePast(log, `other-${day}`, `2026-01-${day}T${hour}:00:00Z`, 1);
    await sealAt(deps, `2026-01-${day}T${hour}:30:00.000Z`);
  }
  const chunks = proofChunks(log, { kind: "organization", id: "organization-1" }, systemClock, {
    waitMsMax: 0,
    asked: 1,
    cosigned: null,
    signal: new AbortController().signal,
  });
  const text = (await Array.fromAsync(chunks)).join("");
  const { heads = [] } = readExport(text).end;
  expect(heads.map(({ checkpoint, position }) => [checkpoint.sealed_at, position])).toEqual([
    ["2026-01-10T08:30:00.000Z", 3],
    ["2026-01-10T20:30:00.000Z", 6],
    ["2026-01-11T09:30:00.000Z", 9],
  ]);
  const verdict = await verify(text);
  expect(verdict).toMatchObject({
    complete: true,
    events: 8,
    heads: [{}, {}, { checkpoint: 3, position: 9 }],
  });
  expect(verdict.not_shown.join()).toContain("on 2026-01-12: the file has no checkpoint of the day");
});

// AU-142
describe.skipIf(!services().postgres.real)("after a restart, a log", () => {
  const proven = sharedProvenLog();
  const { audit, tamper } = proven;

  const setAside = (owner: string) =>
    sqlOn(proven.log)`
      select reason, position::integer as position from audit.altered_chains
        where owner = ${`organization:${owner}`}`;

  test.each([
    [
      "whose newest events were cut off",
      `delete from audit.request_ids where id in (select id from audit.audit_events where organization_id = '$O' and status is null);
      delete from audit.audit_events where organization_id = '$O' and status is null;
      delete from audit.entries where position > 4 and chain_id = (select id from audit.chains where owner = 'organization:$O');
      update audit.chains set position = 4, chain = (select chain from audit.entries
        where position = 4 and chain_id = chains.id) where owner = 'organization:$O'`,
      "the chain ends at position 4, and position 5 was sealed",
    ],
    [
      "that was removed as a whole",
      `delete from audit.entries where chain_id = (select id from audit.chains where owner = 'organization:$O');
      delete from audit.chains where owner = 'organization:$O'`,
      "the chain ends at position 0, and position 5 was sealed",
    ],
    [
      "whose chain has another value",
      "update audit.chains set chain = sha256('x') where owner = 'organization:$O'",
      "the hash at position 5 differs from the sealed one",
    ],
    [
      "that claims to be of an older version",
      `update audit.chains set inclusion = '{"index":0,"size":1,"path":[]}', position = 4, chain = (select chain
        from audit.entries where position = 4 and chain_id = chains.id) where owner = 'organization:$O';
      delete from audit.entries where position > 4 and chain_id = (select id from audit.chains where owner = 'organization:$O')`,
      "the chain ends at position 4, and position 5 was sealed",
    ],
  ])("%s is no longer sealed, and its export is refused", async (title, statements, reason) => {
    const owner = title.replaceAll(" ", "-");
    await writeEvents(audit, 3, { organization_id: owner });
    await exportProof(audit, logOf(owner));
    await audit.restart(() => tamper(statements.replaceAll("$O", owner)));
    await audit.put(requestId(), intent({ organization_id: owner }));
    await waitFor(async () => (await setAside(owner)).length > 0, { what: "the refusal" });
    expect(await setAside(owner)).toEqual([{ reason, position: 5 }]);
    const { text } = await exportProof(audit, logOf(owner));
    expect(await verify(text, proven.keys)).toMatchObject({ result: "altered" });
    // Other logs are still sealed.
    await writeEvents(audit, 2, { organization_id: `beside-${owner}` });
    const beside = await exportProof(audit, logOf(`beside-${owner}`));
    expect(await verify(beside.text, proven.keys)).toMatchObject({ complete: true, events: 2 });
  });
});

describe("?checkpoint=N", () => {
  const audit = sharedAudit({}, startProvenAudit);

  const newest = async (): Promise<Checkpoint> =>
    (await json(await audit.get("/audit-checkpoints?limit=1"))).audit_checkpoints[0];

  // AU-144
  test("shows the head under a kept checkpoint, which suffices to confirm that checkpoint", async () => {
    const owner = "asked";
    const keys = await keysOf(audit);
    await writeEvents(audit, 2, { organization_id: "other" });
    await exportProof(audit, logOf("other"));
    const before = await newest();
    await writeEvents(audit, 2, { organization_id: owner });
    await exportProof(audit, logOf(owner));
    const kept = await newest();
    await writeEvents(audit, 2, { organization_id: owner });
    await exportProof(audit, logOf(owner));
    for (const [checkpoint, position] of [
      [before, 0],
      [kept, 3],
    ] as const) {
      const text = await (
        await audit.get(`${logOf(owner)}?proof=true&checkpoint=${checkpoint.number}`)
      ).text();
      const read = readExport(text);
      expect(read.end.heads?.find((head) => head.checkpoint.number === checkpoint.number)).toMatchObject({
        position,
      });
      const alone = exportText({ ...read, end: { ...read.end, recent_checkpoints: [] } });
      const copies = { checkpoints: [checkpoint], end: null };
      expect(await verify(alone, keys, copies)).toMatchObject({ complete: true });
      const { tree, ...untreed } = read.end;
      expect(tree?.asked?.checkpoint).toEqual(checkpoint);
      const unshown = exportText({ ...read, end: { ...untreed, recent_checkpoints: [], heads: [] } });
      const isNext = checkpoint.number + 1 === read.end.checkpoint?.number;
      const result = isNext ? "complete" : "undecided";
      expect(await verify(unshown, keys, copies)).toMatchObject({ result });
      const other = { ...checkpoint, map: hexOf(ZERO_HASH), jws: null };
      expect(await verify(alone, null, { checkpoints: [other], end: null })).toMatchObject({
        result: "altered",
      });
    }
  });

  // AU-144
  test.each([
    ["checkpoint=999999&proof=true", "There is no checkpoint 999999."],
    ["checkpoint=0&proof=true", "must be the number of a checkpoint"],
    ["checkpoint=-1&proof=true", "must be the number of a checkpoint"],
    ["checkpoint=1.5&proof=true", "must be the number of a checkpoint"],
    ["checkpoint=9999999999999999&proof=true", "must be the number of a checkpoint"],
    ["checkpoint=%00&proof=true", "must be the number of a checkpoint"],
    ["checkpoint=&proof=true", "must be the number of a checkpoint"],
    ["checkpoint=1&checkpoint=2&proof=true", "checkpoint"],
    ["checkpoint=1", "checkpoint needs proof=true"],
  ])("is 422 for ?%s", async (query, message) => {
    const response = await audit.get(`${logOf("asked")}?${query}`, { Accept: "application/x-ndjson" });
    expect(response.status).toBe(422);
    expect(JSON.stringify(await response.json())).toContain(message);
  });
});

// AU-145
describe.skipIf(!services().postgres.real)("a log that an older version sealed", () => {
  test("is added to the map of heads first, and its old checkpoints still verify", async () => {
    const keyFile = writeSigningKey();
    const env = { AUDIT_SIGNING_KEY_FILE: keyFile };
    const first = await startProvenAudit({ env });
    const keys = await keysOf(first);
    const owners = Array.from({ length: 30 }, (_, n) => `old-${n}`);
    for (const owner of owners) await writeEvents(first, 2, { organization_id: owner });
    await exportProof(first, logOf("old-29"));
    await first.stop();
    await using log = await openLog(first);
    const old = await asOlderVersion(log, keyFile);
    await using audit = await startProvenAudit({ env, databaseUrl: first.databaseUrl });
    // The logs get no new events, but the service adds all of them to the map.
    await waitFor(async () => (await exportProof(audit, logOf("old-7"))).end.checkpoint?.map !== undefined);
    for (const owner of owners) {
      const { text, end } = await exportProof(audit, logOf(owner));
      expect([end.head.position, end.inclusion]).toEqual([3, null]);
      const verdict = await verify(text, keys, { checkpoints: [old], end: null });
      expect(verdict).toMatchObject({ complete: true, events: 2 });
    }
    // The old checkpoint has no map and so shows no heads. The tree of checkpoints still contains it.
    const asked = readExport(await (await audit.get(`${logOf("old-1")}?proof=true&checkpoint=1`)).text());
    const alone = exportText({ ...asked, end: { ...asked.end, recent_checkpoints: [] } });
    expect(await verify(alone, keys, { checkpoints: [old], end: null })).toMatchObject({ complete: true });
    await writeEvents(audit, 2, { organization_id: "old-1" });
    const later = await exportProof(audit, logOf("old-1"));
    expect(await verify(later.text, keys)).toMatchObject({ complete: true, events: 4 });
  });
});

/** Rewrites a log to the format of an older version: a single checkpoint without a map holds all heads. */
async function asOlderVersion(log: Database, keyFile: string): Promise<Checkpoint> {
  const chains = await sqlOn(log)<{ owner: string; position: number; chain: string }>`
    select owner, position::integer as position, encode(chain, 'hex') as chain from audit.chains`;
  const heads = inTreeOrder(chains.map((row) => ({ ...row, chain: hashFromHex(row.chain) })));
  const { root, inclusions } = headTree(heads);
  const checkpoint = await signedCheckpoint(
    { number: 1, sealed_at: new Date().toISOString(), previous: hexOf(ZERO_HASH), heads: hexOf(root) },
    await loadSigningKey(keyFile),
  );
  const { sealed_at, jws } = checkpoint;
  const placed = heads.map(({ owner }, index) => ({ owner, inclusion: inclusions[index] }));
  await log.transaction("older", async (tx) => {
    await rows(tx, sql`set local session_replication_role = replica`);
    await rows(tx, sql`alter table audit.checkpoints drop constraint has_map`);
    await rows(tx, sql`delete from audit.head_map`);
    await rows(tx, sql`delete from audit.checkpoint_tree`);
    await rows(tx, sql`update audit.sealer set note = null`);
    await rows(tx, sql`delete from audit.checkpoints`);
    await rows(
      tx,
      sql`insert into audit.checkpoints (number, sealed_at, previous, heads, jws)
        values (1, ${sealed_at}::text::timestamptz, ${Buffer.from(ZERO_HASH)}, ${Buffer.from(root)}, ${jws})`,
    );
    await rows(
      tx,
      sql`update audit.chains set checkpoint = 1, inclusion = given.inclusion
        from json_to_recordset(${JSON.stringify(placed)}::text::json) as given(owner text, inclusion json)
        where given.owner = chains.owner`,
    );
    await rows(
      tx,
      sql`alter table audit.checkpoints add constraint has_map check (map is not null) not valid`,
    );
  });
  return checkpoint;
}
