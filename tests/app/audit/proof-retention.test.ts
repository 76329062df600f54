import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { makePartitions } from "@ostiary/audit/partitions/commands";
import { proofChunks } from "@ostiary/audit/proof";
import { restartTree } from "@ostiary/audit/proof/restart/restart-tree";
import { sealPass } from "@ostiary/audit/proof/seal/seal-pass";
import { declareMonth, dropMonths } from "@ostiary/audit/retention/drop-months";
import { systemClock } from "@ostiary/lib/async";
import { monthEnd, monthOf } from "@ostiary/lib/domain/proof";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { rejection, services, waitFor } from "../../support/index.ts";
import { logOf, newLog, sqlOn } from "./audit-service.ts";
import {
  exportProof,
  exportText,
  found,
  sharedProvenLog,
  verify,
  writeEvents,
  writeSigningKey,
} from "./proof-bed.ts";
import { drop, makeMonth, passDeps, writePast, writePastOutcome } from "./retention-bed.ts";

setDefaultTimeout(60_000);

/** Skips a group of tests without a PostgreSQL server: an embedded database allows one session only. */
const onServer = describe.skipIf(!services().postgres.real);

// AU-68, AU-74, AU-75
onServer("a month that is dropped", () => {
  const proven = sharedProvenLog();
  const { audit, keyFile, key, tamper } = proven;
  const run = (statement: string) => sqlOn(proven.log)`${sql.raw(statement)}`;
  const dropBefore = (month: string, file: string | null = keyFile) => drop(proven.log, file, month);

  let year = 2000;
  /** Returns a log with three events in a past month, one in the month after it, and two in the current month. */
  async function pastLog() {
    year += 1;
    const names = [`${year}-01`, `${year}-02`] as const;
    const owner = `kept-${year}`;
    for (const name of names) await makeMonth(proven.log, name);
    const past = await writePast(proven.log, owner, `${names[0]}-10T00:00:00Z`, 3);
    await writePast(proven.log, owner, `${names[1]}-10T00:00:00Z`, 1);
    await writeEvents(audit, 2, { organization_id: owner });
    const before = await exportProof(audit, logOf(owner));
    expect(await verify(before.text, key)).toMatchObject({ result: "complete", events: 6, dropped: null });
    return { owner, path: logOf(owner), names, past, before };
  }

  test("is declared in the chain, and the rest still verifies", async () => {
    const { path, names } = await pastLog();
    expect(await dropBefore(names[1])).toContainEqual(
      expect.objectContaining({ month: names[0], logs: 1, entries: 5 }),
    );
    const after = await exportProof(audit, path);
    expect(after.end.retention).toMatchObject([
      { kind: "dropped", from: 1, to: 5, month: names[0] },
      { kind: "retention", month: names[0] },
    ]);
    expect(await verify(after.text, key)).toMatchObject({
      result: "complete",
      events: 3,
      dropped: { entries: 5, month: names[0] },
    });
    // Dropping the next month works too, although the entries of the first month are gone.
    await dropBefore(`${year}-03`);
    expect(await verify((await exportProof(audit, path)).text, key)).toMatchObject({
      result: "complete",
      events: 2,
      dropped: { entries: 6, month: names[1] },
    });
  });

  test("stays dropped when the service recreates its partition, empty", async () => {
    const { path, names } = await pastLog();
    await dropBefore(names[1]);
    await makePartitions(proven.log, Date.parse(`${names[1]}-15T00:00:00Z`));
    const verdict = await verify((await exportProof(audit, path)).text, key);
    expect(verdict).toMatchObject({ result: "complete", dropped: { entries: 5 } });
  });

  test("excuses no other missing event", async () => {
    const { path, names } = await pastLog();
    await dropBefore(names[1]);
    const after = await exportProof(audit, path);
    for (const missing of [0, 1, 2]) {
      const events = after.events.filter((_, n) => n !== missing);
      expect(await verify(exportText({ ...after, events }), key)).toMatchObject({ result: "altered" });
    }
  });

  test.each([
    [
      "an event of the next month was moved into it",
      "update audit.audit_events set occurred_at = '$MONTH-20T00:00:00Z' where organization_id = '$OWNER' and occurred_at > '$NEXT-01'",
      "is not what was sealed",
    ],
    [
      "an event was changed",
      "update audit.audit_events set ip = '::1' where id = '$FIRST'",
      "is not what was sealed",
    ],
    [
      "a chain value was changed",
      "update audit.entries set chain = sha256('x') where event_id = '$FIRST'",
      "is not what was sealed",
    ],
    ["an event lost its entries", "delete from audit.entries where event_id = '$FIRST'", "was never sealed"],
    [
      "an event was added",
      "insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service, method, route, params, ip) values ('added-$OWNER', 'x', '$MONTH-05', '$OWNER', 'jwt', 's', 'GET', '/', '{}', '::')",
      "was never sealed",
    ],
  ])("is not dropped when %s, and the error names the event", async (_, statement, said) => {
    const { owner, names, past } = await pastLog();
    await tamper(
      statement
        .replaceAll("$MONTH", names[0])
        .replaceAll("$NEXT", names[1])
        .replaceAll("$OWNER", owner)
        .replaceAll("$FIRST", past[0] ?? ""),
    );
    expect(String(await rejection(dropBefore(names[1])))).toContain(said);
    const [{ count } = { count: 0 }] = await sqlOn(proven.log)<{ count: number }>`
      select count(*) as count from audit.audit_events where organization_id = ${owner}`;
    expect(count).toBeGreaterThanOrEqual(6);
    await tamper(
      `delete from audit.audit_events where organization_id = '${owner}' and occurred_at < '2100-01-01'`,
    );
  });

  test("does not excuse an event whose entries were back-dated, even if its partition was detached meanwhile", async () => {
    const { path, names, before } = await pastLog();
    const victim = before.events[2]?.id;
    // Delete an event of the next month, and back-date its entries to the month that is dropped.
    await tamper(`delete from audit.audit_events where id = '${victim}';
      update audit.entries set occurred_at = '${names[0]}-20T00:00:00Z' where event_id = '${victim}'`);
    const partition = `audit.audit_events_${names[1].replace("-", "_")}`;
    await run(`alter table audit.audit_events detach partition ${partition}`);
    await dropBefore(names[1]);
    await run(
      `alter table audit.audit_events attach partition ${partition}
        for values from ('${names[1]}-01 00:00:00Z') to ('${monthOf(monthEnd(names[1]))}-01 00:00:00Z')`,
    );
    const verdict = await verify((await exportProof(audit, path)).text, key);
    expect(verdict.result).toBe("altered");
    expect(found(verdict)).not.toBeEmpty();
  });

  test("is dropped only after an outcome that arrives during the declaration has a position", async () => {
    const { path, names, past } = await pastLog();
    const dropping = dropBefore(names[1]);
    await writePastOutcome(proven.log, past[2] ?? "").catch(() => {});
    await dropping;
    const verdict = await verify((await exportProof(audit, path)).text, key);
    expect(verdict.result).toBe("complete");
    expect(verdict.dropped?.entries).toBeGreaterThanOrEqual(5);
  });

  test("is dropped by two commands at once, while events are written and exported", async () => {
    const { owner, path, names } = await pastLog();
    await dropBefore(names[0]);
    let isOver = false;
    const busy = (async () => {
      while (!isOver) {
        await writeEvents(audit, 3, { organization_id: owner });
        const { text } = await exportProof(audit, path).catch(() => ({ text: "" }));
        // An export fails if the month is declared during the export. The loop then skips the verification.
        if (text !== "") expect(found(await verify(text, key))).toEqual([]);
      }
    })();
    const both = await Promise.allSettled([dropBefore(names[1]), dropBefore(names[1])]);
    isOver = true;
    await busy;
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    const after = await exportProof(audit, path);
    expect(await verify(after.text, key)).toMatchObject({ result: "complete", dropped: { entries: 5 } });
  });

  test("is dropped only when no export reads it any more", async () => {
    const { path, names } = await pastLog();
    await dropBefore(names[0]);
    const [reading, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const reader = proven.log.transaction("read", async (tx) => {
      await rows(tx, sql`select 1 from audit.audit_events limit 1`);
      reading.resolve();
      await read.promise;
    });
    await reading.promise;
    const dropping = dropBefore(names[1]);
    // The month is declared but its events still exist, so nothing counts as missing or dropped.
    await waitFor(async () => (await exportProof(audit, path)).end.retention !== undefined, {
      what: "a declaration",
    });
    expect(await verify((await exportProof(audit, path)).text, key)).toMatchObject({
      result: "complete",
      events: 6,
      dropped: null,
    });
    read.resolve();
    await reader;
    await dropping;
    expect(await verify((await exportProof(audit, path)).text, key)).toMatchObject({
      dropped: { entries: 5 },
    });
  });

  // OP-93
  test.each([400, 1, -1, -400])("stays if the clock of the command is %p days wrong", async (days) => {
    const { path, names } = await pastLog();
    const deps = await passDeps(proven.log, keyFile);
    const clock = { ...deps.clock, now: () => Date.now() + days * 24 * 60 * 60 * 1000 };
    const refused = await rejection(Array.fromAsync(dropMonths({ ...deps, clock }, names[1])));
    expect(String(refused)).toContain("The clocks of this machine and of the database differ by");
    const { events, end } = await exportProof(audit, path);
    expect([events.length, end.retention]).toEqual([6, undefined]);
  });

  test("must be over, complete, and declared by the log's key", async () => {
    await pastLog();
    const refusal = async (file: string | null, before: string) =>
      String(await rejection(dropBefore(before, file)));
    expect(await refusal(keyFile, monthOf(Date.now(), 1))).toContain("ended less than two days ago");
    expect(await refusal(keyFile, "2099-12")).toContain("ended less than two days ago");
    expect(await refusal(writeSigningKey(), "2001-01")).toContain("No key of AUDIT_SIGNING_KEY_FILE signed");
    await run(
      "create table audit.some_weeks partition of audit.audit_events for values from ('1999-01-01 00:00:00Z') to ('1999-01-15 00:00:00Z')",
    );
    expect(await refusal(keyFile, "2001-01")).toContain("audit.some_weeks (FOR VALUES FROM");
    await run("drop table audit.some_weeks");
  });
});

/** Seals everything at a time. */
async function sealAt(log: Database, keyFile: string, time: string): Promise<void> {
  const deps = await passDeps(log, keyFile);
  const clock = { ...systemClock, now: () => Date.parse(time) };
  while ((await sealPass({ ...deps, clock })).end === "behind");
}

/** Returns an export of organization-1 without a service. */
async function exported(log: Database, keyFile: string, origin?: string): Promise<string> {
  const { memory: _, ...deps } = await passDeps(log, keyFile, origin);
  const { loadLogKeys } = await import("@ostiary/audit/signing-keys");
  const keys = ((await loadLogKeys(keyFile, deps.origin)) ?? []).map((each) => each.key);
  const given = { ...deps, keys, waitMsMax: 0, cosigned: null };
  const owner = { kind: "organization", id: "organization-1" } as const;
  const { signal } = new AbortController();
  return (await Array.fromAsync(proofChunks(given, owner, null, signal))).join("");
}

// AU-68, AU-141
test("entries that were sealed near the end of a dropped month or later show by their contents that they belong to it", async () => {
  await using log = await newLog("pglite://memory");
  const keyFile = writeSigningKey();
  await makePartitions(log, Date.now());
  for (const month of ["2025-01", "2025-02"]) await makeMonth(log, month);
  await writePast(log, "organization-1", "2025-01-10T00:00:00Z", 2);
  await sealAt(log, keyFile, "2025-01-10T00:00:05.000Z");
  await writePast(log, "organization-1", "2025-01-31T12:00:00Z", 2);
  await sealAt(log, keyFile, "2025-01-31T12:00:05.000Z");
  await writePast(log, "organization-1", "2025-02-01T00:00:00Z", 2);
  await sealAt(log, keyFile, "2025-02-01T00:00:05.000Z");
  const whole = JSON.parse((await exported(log, keyFile)).trimEnd().split("\n").at(-1) ?? "");
  expect(whole.heads.map(({ position }: { position: number }) => position)).toEqual([3, 6]);
  await drop(log, keyFile, "2025-02");
  const text = await exported(log, keyFile);
  const end = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
  expect(end.retention).toMatchObject([
    { kind: "dropped", from: 1, to: 3 },
    { kind: "dropped", from: 4, to: 6, month: "2025-01" },
    { kind: "retention", month: "2025-01" },
  ]);
  expect([end.retention[0].contents, end.retention[1].contents.length]).toEqual([undefined, 3]);
  expect(await verify(text)).toMatchObject({ result: "complete", events: 2, dropped: { entries: 6 } });
});

// AU-68
test("an export is complete while a further month is declared and not dropped yet", async () => {
  await using log = await newLog("pglite://memory");
  const keyFile = writeSigningKey();
  await makePartitions(log, Date.now());
  for (const month of ["2025-01", "2025-02", "2025-03"]) await makeMonth(log, month);
  for (const at of ["2025-01-10T00:00", "2025-01-31T12:00", "2025-02-10T00:00", "2025-03-10T00:00"]) {
    await writePast(log, "organization-1", `${at}:00Z`, 2);
    await sealAt(log, keyFile, `${at}:05.000Z`);
  }
  await drop(log, keyFile, "2025-02");
  expect(await verify(await exported(log, keyFile))).toMatchObject({ result: "complete", events: 4 });
  const content = { month: "2025-02", declared_at: new Date().toISOString() };
  await declareMonth(await passDeps(log, keyFile), [
    { owner: "organization:organization-1", kind: "retention", content },
  ]);
  expect(await verify(await exported(log, keyFile))).toMatchObject({
    result: "complete",
    events: 4,
    dropped: { entries: 6, month: "2025-01" },
  });
  await drop(log, keyFile, "2025-03");
  expect(await verify(await exported(log, keyFile))).toMatchObject({ result: "complete", events: 2 });
});

// AU-68, AU-204
test("a log with a dropped month is undecided after restart --origin, and not altered", async () => {
  await using log = await newLog("pglite://memory");
  const keyFile = writeSigningKey();
  await makePartitions(log, Date.now());
  for (const month of ["2025-01", "2025-02"]) await makeMonth(log, month);
  for (const at of ["2025-01-10T00:00", "2025-01-31T12:00", "2025-02-10T00:00"]) {
    await writePast(log, "organization-1", `${at}:00Z`, 2);
    await sealAt(log, keyFile, `${at}:05.000Z`);
  }
  await drop(log, keyFile, "2025-02");
  await restartTree(await passDeps(log, keyFile, "new"));
  const verdict = await verify(await exported(log, keyFile, "new"));
  expect([verdict.result, found(verdict)]).toEqual([
    "undecided",
    [{ code: "entries_given_up", position: 1, to: 3 }],
  ]);
});
