import { describe, expect, test } from "bun:test";
import { monthEnd, monthOf } from "@ostiary/lib/domain/proof";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { makePartitions } from "../../../apps/audit/events/partitions-sql.ts";
import { declareMonth, dropMonths } from "../../../apps/audit/proof/retention/drop-months.ts";
import { duringTests } from "../../support/during-tests.ts";
import { rejection, services, waitFor } from "../../support/index.ts";
import { databaseWith, OwnLog, ownLog } from "./own-log.ts";
import { found, verify, writeSigningKey } from "./proof-bed.ts";
import { drop, makeMonth, writePastOutcome } from "./retention-bed.ts";

// AU-68, AU-74, AU-75
describe.skipIf(!services().postgres.real)("a month that is dropped", () => {
  const log = duringTests(OwnLog.open);
  const run = (statement: string) => log.sql`${sql.raw(statement)}`;
  const dropBefore = (month: string, file = log.keyFile) => drop(log.database, file, month);

  let year = 2000;
  /** Returns a log with three events in a past month, one in the month after it, and two in the current month. */
  async function pastLog() {
    year += 1;
    const names = [`${year}-01`, `${year}-02`] as const;
    const owner = `kept-${year}`;
    for (const name of names) await makeMonth(log.database, name);
    const past = await log.write(3, owner, `${names[0]}-10T00:00:00Z`);
    await log.write(1, owner, `${names[1]}-10T00:00:00Z`);
    await log.sealed(2, owner);
    const before = await log.proof(owner);
    expect(await verify(before.text, log.key)).toMatchObject({
      result: "complete",
      events: 6,
      dropped: null,
    });
    return { owner, names, past, before };
  }

  test("is declared in the chain, and the rest still verifies", async () => {
    const { owner, names } = await pastLog();
    expect(await dropBefore(names[1])).toContainEqual(
      expect.objectContaining({ month: names[0], logs: 1, entries: 5 }),
    );
    const after = await log.proof(owner);
    expect(after.end.retention).toMatchObject([
      { kind: "dropped", from: 1, to: 5, month: names[0] },
      { kind: "retention", month: names[0] },
    ]);
    expect(await verify(after.text, log.key)).toMatchObject({
      result: "complete",
      events: 3,
      dropped: { entries: 5, month: names[0] },
    });
    // Dropping the next month works too, although the entries of the first month are gone.
    await dropBefore(`${year}-03`);
    expect(await log.verdict(owner)).toMatchObject({
      result: "complete",
      events: 2,
      dropped: { entries: 6, month: names[1] },
    });
    await makePartitions(log.database, Date.parse(`${names[1]}-15T00:00:00Z`));
    expect(await log.verdict(owner)).toMatchObject({ result: "complete", dropped: { entries: 6 } });
  });

  test.each([-20, 0, 20])(
    "is proved when its first event is %p h ahead of the seal, two days before its end",
    async (hours) => {
      await using own = await OwnLog.open();
      await makeMonth(own.database, "2026-06");
      const settled = Date.parse("2026-06-29T00:00:00Z");
      const at = (time: number) => new Date(time).toISOString();
      for (const sealed of [settled - 1, settled, settled + 1]) {
        await own.write(2, `log-${sealed}`, at(sealed + hours * 3_600_000));
        await own.seal(at(sealed));
      }
      await own.sealed(1, "beside");
      await drop(own.database, own.keyFile, "2026-07");
      for (const sealed of [settled - 1, settled, settled + 1]) {
        const verdict = await own.verdict(`log-${sealed}`);
        expect(verdict).toMatchObject({ result: "complete", dropped: { entries: 3 } });
      }
    },
  );

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
    ["an event lost its entries", "delete from audit.entries where event_id = '$FIRST'", "was never sealed"],
    [
      "an event lost its entries and its owner",
      "delete from audit.entries where event_id = '$FIRST'; update audit.audit_events set organization_id = null where id = '$FIRST'",
      "was never sealed in the log of nobody",
    ],
  ])("is not dropped when %s, and the error names the event", async (_, statement, message) => {
    const { owner, names, past } = await pastLog();
    await log.tamper(
      statement
        .replaceAll("$MONTH", names[0])
        .replaceAll("$NEXT", names[1])
        .replaceAll("$OWNER", owner)
        .replaceAll("$FIRST", past[0] ?? ""),
    );
    const refused = await rejection(dropBefore(names[1]));
    expect(refused).toMatchObject({ name: "MonthAltered", message: expect.stringContaining(message) });
    const left = await log.sql`select from audit.audit_events
      where organization_id = ${owner} or organization_id is null`;
    expect(left).toHaveLength(6);
    await log.tamper(
      `delete from audit.audit_events where organization_id = '${owner}' or organization_id is null`,
    );
  });

  test.each(["intent", "outcome"])(
    "is not dropped while a log that is left out lacks an %s that another log has",
    async (part) => {
      await using own = await OwnLog.open();
      const owner = "left-out";
      await makeMonth(own.database, "2026-06");
      const [id = ""] = await own.write(1, owner, "2026-06-10T00:00:00Z");
      await own.tamper(`update audit.audit_events set user_id = 'person-1' where id = '${id}'`);
      if (part === "outcome") await own.seal();
      // The log is left out for an event of the current month, and its chain stays what was sealed.
      const [bad] = await own.write(1, owner);
      await own.tamper(`alter table audit.audit_events alter column intent_salt drop not null;
        update audit.audit_events set intent_salt = null where id = '${bad}'`);
      if (part === "outcome") await own.seal();
      await writePastOutcome(own.database, id);
      await own.seal();
      expect(String(await rejection(drop(own.database, own.keyFile, "2026-07")))).toContain(
        `The event ${id} of 2026-06 was never sealed in the log of organization:${owner}`,
      );
      await own.tamper(`update audit.audit_events set intent_salt = audit.random_salt() where id = '${bad}'`);
      const dropped = await drop(own.database, own.keyFile, "2026-07");
      expect(dropped).toMatchObject([{ month: "2026-06", logs: 2, entries: 4 }]);
      const verdict = await own.verdict(owner);
      expect(verdict).toMatchObject({ result: "complete", dropped: { entries: 2 } });
    },
  );

  test("does not excuse an event whose entries were back-dated, even if its partition was detached meanwhile", async () => {
    const { owner, names, before } = await pastLog();
    const victim = before.events[2]?.id;
    // Delete an event of the next month, and back-date its entries to the month that is dropped.
    await log.tamper(`delete from audit.audit_events where id = '${victim}';
      update audit.entries set occurred_at = '${names[0]}-20T00:00:00Z' where event_id = '${victim}'`);
    const partition = `audit.audit_events_${names[1].replace("-", "_")}`;
    await run(`alter table audit.audit_events detach partition ${partition}`);
    await dropBefore(names[1]);
    await run(
      `alter table audit.audit_events attach partition ${partition}
        for values from ('${names[1]}-01 00:00:00Z') to ('${monthOf(monthEnd(names[1]))}-01 00:00:00Z')`,
    );
    const verdict = await log.verdict(owner);
    expect(verdict.result).toBe("altered");
    expect(found(verdict)).not.toBeEmpty();
  });

  test("is dropped only after an outcome that arrives during the declaration has a position", async () => {
    const { owner, names, past } = await pastLog();
    const dropping = dropBefore(names[1]);
    await writePastOutcome(log.database, past[2] ?? "").catch(() => {});
    await dropping;
    const verdict = await log.verdict(owner);
    expect(verdict.result).toBe("complete");
    expect(verdict.dropped?.entries).toBeGreaterThanOrEqual(5);
  });

  test("is dropped after an outcome that arrives between the last pass and the search for missing entries", async () => {
    const { owner, names, past } = await pastLog();
    let isLate = true;
    const run: Database["run"] = async (operation, work, options) => {
      if (operation === "select_unsealed_event" && isLate) {
        isLate = false;
        await writePastOutcome(log.database, past[2] ?? "");
      }
      return log.database.run(operation, work, options);
    };
    const reads: Database = databaseWith(log.database, { run, inBackground: () => reads });
    const dropped = await Array.fromAsync(dropMonths({ ...log.deps, reads }, names[1]));
    expect(dropped).toContainEqual(expect.objectContaining({ month: names[0], entries: 6 }));
    expect(await log.verdict(owner)).toMatchObject({ result: "complete", dropped: { entries: 6 } });
  });

  test("is dropped by two commands at once, while events are written and exported", async () => {
    const { owner, names } = await pastLog();
    await dropBefore(names[0]);
    let isOver = false;
    const busy = (async () => {
      while (!isOver) {
        await log.sealed(3, owner);
        // An export fails if the month is declared during the export.
        const read = await log.proof(owner).catch(() => null);
        if (read !== null) expect(found(await verify(read.text, log.key))).toEqual([]);
      }
    })();
    const both = await Promise.allSettled([dropBefore(names[1]), dropBefore(names[1])]);
    isOver = true;
    await busy;
    expect(both.map((each) => (each.status === "rejected" ? String(each.reason) : ""))).toEqual(["", ""]);
    expect(await log.verdict(owner)).toMatchObject({ result: "complete", dropped: { entries: 5 } });
  });

  test("is dropped only when no export reads it any more", async () => {
    const { owner, names } = await pastLog();
    await dropBefore(names[0]);
    const [reading, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const reader = log.database.transaction("read", async (tx) => {
      await rows(tx, sql`select 1 from audit.audit_events limit 1`);
      reading.resolve();
      await read.promise;
    });
    await reading.promise;
    const dropping = dropBefore(names[1]);
    // The month is declared but its events still exist, so nothing counts as missing or dropped.
    const isDeclared = async () => (await log.proof(owner)).end.retention !== undefined;
    await waitFor(isDeclared, { what: "a declaration" });
    expect(await log.verdict(owner)).toMatchObject({ result: "complete", events: 6, dropped: null });
    read.resolve();
    await reader;
    await dropping;
    expect(await log.verdict(owner)).toMatchObject({ dropped: { entries: 5 } });
  });

  // OP-93
  test.each([1, -1])("stays if the clock of the command is %p days wrong", async (days) => {
    const { owner, names } = await pastLog();
    const clock = { ...log.deps.clock, now: () => Date.now() + days * 24 * 60 * 60 * 1000 };
    const refused = await rejection(Array.fromAsync(dropMonths({ ...log.deps, clock }, names[1])));
    expect(String(refused)).toContain("The clocks of this machine and of the database differ by");
    const { events, end } = await log.proof(owner);
    expect([events.length, end.retention]).toEqual([6, undefined]);
  });

  test("must be complete, and declared by the log's key", async () => {
    await pastLog();
    const refusal = async (file: string, before: string) => String(await rejection(dropBefore(before, file)));
    expect(await refusal(writeSigningKey(), `${year}-02`)).toContain(
      "No key of AUDIT_SIGNING_KEY_FILE signed",
    );
    await run(
      "create table audit.some_weeks partition of audit.audit_events for values from ('1999-01-01 00:00:00Z') to ('1999-01-15 00:00:00Z')",
    );
    expect(await refusal(log.keyFile, `${year}-02`)).toContain("audit.some_weeks (FOR VALUES FROM");
    await run("drop table audit.some_weeks");
  });
});

describe("a log with dropped months", () => {
  /** Returns a log with two events at each time, each sealed five seconds later. */
  async function sealedAt(...times: string[]): Promise<OwnLog> {
    const log = await ownLog();
    for (const month of ["2025-01", "2025-02", "2025-03"]) await makeMonth(log.database, month);
    for (const at of times) {
      await log.write(2, "organization-1", `${at}:00Z`);
      await log.seal(`${at}:05.000Z`);
    }
    return log;
  }

  // AU-68, AU-141
  test("shows entries that were sealed near the end of a dropped month or later by their contents", async () => {
    const log = await sealedAt("2025-01-10T00:00", "2025-01-31T12:00", "2025-02-01T00:00");
    const whole = await log.proof();
    expect(whole.end.heads.map(({ position }) => position)).toEqual([3, 6]);
    await drop(log.database, log.keyFile, "2025-02");
    const { text, end } = await log.proof();
    expect(end.retention).toMatchObject([
      { kind: "dropped", from: 1, to: 3 },
      { kind: "dropped", from: 4, to: 6, month: "2025-01", contents: Array(3).fill(expect.any(String)) },
      { kind: "retention", month: "2025-01" },
    ]);
    expect(end.retention?.[0]).not.toHaveProperty("contents");
    expect(await verify(text)).toMatchObject({ result: "complete", events: 2, dropped: { entries: 6 } });
  });

  const LATE = ["2025-01-10T00:00", "2025-01-31T12:00", "2025-02-10T00:00"];

  // AU-68
  test("is complete while a further month is declared and not dropped yet", async () => {
    const log = await sealedAt(...LATE, "2025-03-10T00:00");
    await drop(log.database, log.keyFile, "2025-02");
    const declared_at = new Date().toISOString();
    const declaration = { kind: "retention", month: "2025-02", declared_at } as const;
    await declareMonth(log.deps, [{ owner: "organization:organization-1", declaration }]);
    expect(await log.verdict()).toMatchObject({
      result: "complete",
      events: 4,
      dropped: { entries: 6, month: "2025-01" },
    });
    await drop(log.database, log.keyFile, "2025-03");
    expect(await log.verdict()).toMatchObject({ result: "complete", events: 2 });
  });
});
