import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { proofChunks } from "@ostiary/audit/exports/proof";
import { makePartitions } from "@ostiary/audit/partitions/commands";
import { dropMonths } from "@ostiary/audit/retention/drop-months";
import { systemClock } from "@ostiary/lib/async";
import type { ProofEnd } from "@ostiary/lib/contracts/audit";
import { monthEnd, monthOf } from "@ostiary/lib/domain/proof";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { rejection, services, waitFor } from "../../support/index.ts";
import { logOf, newLog, openLog, sqlOn, startAudit } from "./audit-service.ts";
import {
  exportProof,
  exportText,
  type ProofExport,
  readExport,
  sharedProvenLog,
  verify,
  writeEvents,
  writeSigningKey,
} from "./proof-bed.ts";
import { drop, dropDeps, makeMonth, writePast, writePastOutcome } from "./retention-bed.ts";

setDefaultTimeout(60_000);

/** Skips a group of tests without a PostgreSQL server: an embedded database allows one session only. */
const onServer = describe.skipIf(!services().postgres.real);

// AU-68, AU-74, AU-75
onServer("a month that is dropped", () => {
  const proven = sharedProvenLog();
  const { audit, keyFile, tamper } = proven;
  const run = (statement: string) => sqlOn(proven.log)`${sql.raw(statement)}`;
  const dropBefore = (month: string, key: string | null = keyFile) => drop(proven.log, key, month);

  let year = 2000;
  /**
   * Returns a log with three events in a past month, one in the month after it, and two in the current month.
   */
  async function pastLog() {
    year += 1;
    const names = [`${year}-01`, `${year}-02`] as const;
    const owner = `kept-${year}`;
    for (const name of names) await makeMonth(proven.log, name);
    const past = await writePast(proven.log, owner, `${names[0]}-10T00:00:00Z`, 3);
    await writePast(proven.log, owner, `${names[1]}-10T00:00:00Z`, 1);
    await writeEvents(audit, 2, { organization_id: owner });
    const before = await exportProof(audit, logOf(owner));
    const { keys } = proven;
    expect(await verify(before.text, keys)).toMatchObject({ complete: true, events: 6, dropped_entries: 0 });
    return { owner, path: logOf(owner), names, past, before, keys };
  }

  test("is declared in the chain by a signed entry, and the rest still verifies, even against kept files", async () => {
    const { path, names, before, keys } = await pastLog();
    expect(await dropBefore(names[1])).toContainEqual(
      expect.objectContaining({ month: names[0], logs: 1, entries: 5 }),
    );
    const after = await exportProof(audit, path);
    expect(after.end.retention).toMatchObject([{ month: names[0], ranges: [{ from: 1, to: 5 }] }]);
    expect(after.end.dropped).toBeNull();
    const verdict = await verify(after.text, keys, { checkpoints: [], end: before.end });
    expect(verdict).toMatchObject({
      complete: true,
      events: 3,
      dropped_entries: 5,
      dropped_before: `${names[1]}-01T00:00:00.000Z`,
    });
    expect(verdict.not_shown.join()).toContain("The content of the 5 dropped entries");
    // Dropping the next month works too, although the entries of the first month are gone.
    await dropBefore(`${year}-03`);
    const later = await exportProof(audit, path);
    expect(later.end.retention).toHaveLength(2);
    expect(await verify(later.text, keys, { checkpoints: [], end: after.end })).toMatchObject({
      complete: true,
      events: 2,
      dropped_entries: 6,
    });
  });

  test("stays dropped when the service recreates its partition, empty", async () => {
    const { path, names, keys } = await pastLog();
    await dropBefore(names[1]);
    await makePartitions(proven.log, Date.parse(`${names[1]}-15T00:00:00Z`));
    expect(await verify((await exportProof(audit, path)).text, keys)).toMatchObject({
      complete: true,
      dropped_entries: 5,
    });
    await dropBefore(names[1]);
    expect((await exportProof(audit, path)).end.retention).toHaveLength(1);
  });

  // OP-73
  test("is reported if its chain loses a declared hash while the month is dropped", async () => {
    const { before, names, keys, path } = await pastLog();
    const partition = `audit_events_${names[0].replace("-", "_")}`;
    await run(`create function public.lose_${partition}() returns event_trigger language plpgsql as $$ begin
      if exists (select from pg_event_trigger_dropped_objects() where object_name = '${partition}') then
        perform set_config('session_replication_role', 'replica', true);
        create table public.${partition} as select * from audit.entries where position = 2
          and chain_id = (select id from audit.chains where owner = '${before.end.head.owner}');
        delete from audit.entries entry using public.${partition} lost
          where entry.chain_id = lost.chain_id and entry.position = lost.position;
      end if;
    end $$`);
    await run(
      `create event trigger lose_${partition} on sql_drop execute function public.lose_${partition}()`,
    );
    const lost = `does not have the declared hashes for the dropped entries of ${names[0]} at positions 1 to 5`;
    expect(String(await rejection(dropBefore(names[1])))).toContain(lost);
    await run(`drop event trigger lose_${partition}`);
    // Each later run fails with the same error before it drops anything.
    expect(String(await rejection(dropBefore(`${year}-03`)))).toContain(lost);
    await tamper(`insert into audit.entries select * from public.${partition}`);
    expect(await dropBefore(`${year}-03`)).toContainEqual(expect.objectContaining({ month: names[1] }));
    const verdict = await verify((await exportProof(audit, path)).text, keys);
    expect(verdict).toMatchObject({ complete: true, events: 2, dropped_entries: 6 });
  });

  test("excuses no other missing event", async () => {
    const { path, names, keys } = await pastLog();
    await dropBefore(names[1]);
    const after = await exportProof(audit, path);
    for (const missing of [0, 1, 2]) {
      const events = after.events.filter((_, n) => n !== missing);
      const { faults } = await verify(exportText({ ...after, events }), keys);
      expect(faults[0]).toMatchObject({ kind: "removed" });
    }
  });

  test("is refused by the verifier if its declaration was changed, moved, added or removed", async () => {
    const { path, names, keys } = await pastLog();
    await dropBefore(names[1]);
    const whole = await exportProof(audit, path);
    const altered = async (change: (end: ProofEnd, declaration: Declaration) => void) => {
      const found: ProofExport = readExport(whole.text);
      const [declaration] = found.end.retention ?? [];
      if (declaration === undefined) throw new Error("The export has no declaration.");
      change(found.end, declaration);
      const verdict = await verify(exportText(found), keys);
      expect(verdict.result).toBe("altered");
      return verdict.faults.map(({ message }) => message).join("\n");
    };
    expect(await altered((_, d) => Object.assign(d, { month: "2000-11" }))).toContain(
      "is not what was sealed",
    );
    expect(await altered((_, d) => Object.assign(d, { declared_at: new Date().toISOString() }))).toContain(
      "is not what was sealed",
    );
    expect(await altered((_, d) => d.ranges.push({ from: 6, to: 6, chain: "0".repeat(64) }))).toContain(
      "is not what was sealed",
    );
    expect(await altered((_, d) => Object.assign(d, { salt: "0".repeat(32) }))).toContain(
      "is not what was sealed",
    );
    expect(await altered((end) => Reflect.deleteProperty(end, "retention"))).toContain(
      "an event was removed",
    );
    expect(await altered((end, d) => end.retention?.push({ ...d, position: 6 }))).toContain(
      "another entry has",
    );
    for (const bad of ["garbage", "2020-13", "2020-01-15", "", "2020-1"]) {
      expect(await altered((_, d) => Object.assign(d, { month: bad }))).toContain("must end the proof");
    }
    for (const bad of ["garbage", "9999-99-99T99:99:99.999Z", "2020-02-30T00:00:00.000Z", ""]) {
      expect(await altered((_, d) => Object.assign(d, { declared_at: bad }))).toContain("has no valid time");
    }
    const next = new Date().getUTCFullYear() + 1;
    expect(await altered((_, d) => Object.assign(d, { month: `${next}-01` }))).toContain(
      "is later than the checkpoint that covers it",
    );
    expect(await altered((_, d) => Object.assign(d, { declared_at: "2000-01-15T00:00:00.000Z" }))).toContain(
      "was declared before that month was over",
    );
    expect(
      await altered((_, d) => d.ranges.reverse() && Object.assign(d.ranges[0] ?? {}, { from: 5, to: 3 })),
    ).toContain("out of order");
    expect(await altered((_, d) => Object.assign(d.ranges[0] ?? {}, { to: 99 }))).toContain(
      "come after the declaration",
    );
  });

  test("is not dropped if one of its events was altered, and the error names the event", async () => {
    for (const [statement, said] of [
      // An event of the next month, moved to this month by a changed date.
      [
        "update audit.audit_events set occurred_at = '$MONTH-20T00:00:00Z' where organization_id = '$OWNER' and occurred_at > '$NEXT-01'",
        "is not what was sealed",
      ],
      ["update audit.audit_events set ip = '::1' where id = '$FIRST'", "is not what was sealed"],
      ["update audit.entries set chain = sha256('x') where event_id = '$FIRST'", "is not what was sealed"],
    ] as const) {
      const { owner, path, names, past } = await pastLog();
      await tamper(
        statement
          .replaceAll("$MONTH", names[0])
          .replaceAll("$NEXT", names[1])
          .replaceAll("$OWNER", owner)
          .replaceAll("$FIRST", past[0] ?? ""),
      );
      expect(String(await rejection(dropBefore(names[1])))).toContain(said);
      const { events } = await exportProof(audit, path);
      expect(events).toHaveLength(6);
      await tamper(
        `delete from audit.audit_events where organization_id = '${owner}' and occurred_at < '2100-01-01'`,
      );
    }
  });

  test("does not excuse an event whose entries were back-dated, even if its partition was detached meanwhile", async () => {
    const { owner, path, names, keys, before } = await pastLog();
    const victim = before.events[2]?.id;
    // Delete an event of the next month, and back-date its entries to the month that is dropped.
    await tamper(`delete from audit.audit_events where id = '${victim}';
      update audit.entries set occurred_at = '${names[0]}-20T00:00:00Z' where event_id = '${victim}'`);
    await run(
      `alter table audit.audit_events detach partition audit.audit_events_${names[1].replace("-", "_")}`,
    );
    await dropBefore(names[1]);
    await run(
      `alter table audit.audit_events attach partition audit.audit_events_${names[1].replace("-", "_")}
        for values from ('${names[1]}-01 00:00:00Z') to ('${monthOf(monthEnd(names[1]))}-01 00:00:00Z')`,
    );
    const { faults, result } = await verify((await exportProof(audit, path)).text, keys);
    expect([result, faults[0]?.kind, faults[0]?.position]).toEqual(["altered", "removed", 6]);
    expect(owner).toStartWith("kept-");
  });

  test("is dropped only after an outcome that arrives during the declaration has a position", async () => {
    const { path, names, past, keys } = await pastLog();
    const dropping = dropBefore(names[1]);
    await writePastOutcome(proven.log, past[2] ?? "").catch(() => {});
    await dropping;
    const verdict = await verify((await exportProof(audit, path)).text, keys);
    expect(verdict.faults).toEqual([]);
    expect(verdict.dropped_entries).toBeGreaterThanOrEqual(5);
  });

  test("is dropped by two commands at once, while events are written and exported", async () => {
    const { owner, path, names, keys } = await pastLog();
    await dropBefore(names[0]);
    let isOver = false;
    const busy = (async () => {
      while (!isOver) {
        await writeEvents(audit, 3, { organization_id: owner });
        const { text } = await exportProof(audit, path).catch(() => ({ text: "" }));
        // An export fails if the month is declared during the export. The loop then skips the verification.
        if (text !== "") expect((await verify(text, keys)).faults).toEqual([]);
      }
    })();
    const both = await Promise.allSettled([dropBefore(names[1]), dropBefore(names[1])]);
    isOver = true;
    await busy;
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    const after = await exportProof(audit, path);
    expect(await verify(after.text, keys)).toMatchObject({ complete: true, dropped_entries: 5 });
  });

  test("is dropped only when no export reads it any more", async () => {
    const { path, names, keys } = await pastLog();
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
    expect(await verify((await exportProof(audit, path)).text, keys)).toMatchObject({
      complete: true,
      events: 6,
      dropped_entries: 0,
    });
    read.resolve();
    await reader;
    await dropping;
    expect(await verify((await exportProof(audit, path)).text, keys)).toMatchObject({ dropped_entries: 5 });
  });

  // OP-93
  test.each([400, 1, -1, -400])("stays if the clock of the command is %p days wrong", async (days) => {
    const { path, names } = await pastLog();
    await waitFor(async () => (await exportProof(audit, path)).events.length === 6, {
      what: "the sealed log",
    });
    const deps = await dropDeps(proven.log, keyFile);
    const clock = { ...deps.clock, now: () => Date.now() + days * 24 * 60 * 60 * 1000 };
    const refused = await rejection(Array.fromAsync(dropMonths({ ...deps, clock }, names[1])));
    expect(String(refused)).toContain("The clocks of this machine and of the database differ by");
    const { events, end } = await exportProof(audit, path);
    expect([events.length, end.retention]).toEqual([6, undefined]);
  });

  test("must be over, complete, and declared by the log's key", async () => {
    await pastLog();
    const refusal = async (key: string | null, before: string) =>
      String(await rejection(dropBefore(before, key)));
    const next = monthOf(Date.now(), 1);
    expect(await refusal(keyFile, next)).toContain("ended less than two days ago");
    expect(await refusal(keyFile, "2099-12")).toContain("ended less than two days ago");
    expect(await refusal(null, "2001-01")).toContain("set AUDIT_SIGNING_KEY_FILE");
    expect(await refusal(writeSigningKey(), "2001-01")).toContain("is not a key of this log");
    await run(
      "create table audit.some_weeks partition of audit.audit_events for values from ('1999-01-01 00:00:00Z') to ('1999-01-15 00:00:00Z')",
    );
    expect(await refusal(keyFile, "2001-01")).toContain("audit.some_weeks (FOR VALUES FROM");
    await run("drop table audit.some_weeks");
  });

  type Declaration = NonNullable<ProofEnd["retention"]>[number];
});

onServer("a log without a signing key", () => {
  test("says that dropped months prove nothing: anyone who can write the database can declare them", async () => {
    await using audit = await startAudit({ env: { SEAL_INTERVAL_MS: "100" } });
    await using log = await openLog(audit);
    await makeMonth(log, "2020-01");
    await writePast(log, "organization-1", "2020-01-10T00:00:00Z", 2);
    await writeEvents(audit, 2);
    await exportProof(audit);
    await drop(log, null, "2020-02");
    const verdict = await verify((await exportProof(audit)).text);
    expect(verdict).toMatchObject({ complete: true, dropped_entries: 3 });
    expect(verdict.not_shown.join()).toContain("including months that it declares as dropped");
  });
});

test("a month is dropped from an embedded database too", async () => {
  await using database = await newLog("pglite://memory");
  for (const month of ["2020-01", "2020-02"]) await makeMonth(database, month);
  await writePast(database, "organization-1", "2020-01-10T00:00:00Z", 2);
  await writePast(database, "organization-1", "2020-02-10T00:00:00Z", 2);
  expect(await drop(database, null, "2020-02")).toMatchObject([{ month: "2020-01", logs: 1, entries: 3 }]);
  const chunks = proofChunks(database, { kind: "organization", id: "organization-1" }, systemClock, {
    waitMsMax: 0,
    asked: null,
    cosigned: null,
    signal: new AbortController().signal,
  });
  const text = (await Array.fromAsync(chunks)).join("");
  expect(await verify(text)).toMatchObject({ complete: true, events: 2, dropped_entries: 3 });
});
