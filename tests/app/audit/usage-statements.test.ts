/** Tests the monthly usage statements of organizations (AU-131 to AU-136). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { selectDue } from "@ostiary/audit/usage/statements/due-months-sql";
import { monthEnd, monthStart } from "@ostiary/lib/domain/proof";
import { sql } from "drizzle-orm";
import { ulid } from "ulid";
import { rejection, services, waitFor } from "../../support/index.ts";
import {
  json,
  logOf,
  openLog,
  sharedAudit,
  sharedLog,
  sqlOn,
  startAudit,
  wrongFields,
} from "./audit-service.ts";
import { exportProof, exportText, keysOf, readExport, tamperWith, verify, writeEvents } from "./proof-bed.ts";
import {
  HOUR,
  MONTH,
  NEXT_HOUR,
  NEXT_MONTH,
  NOW,
  NOW_MS,
  startStatingAudit,
  statementsOf,
} from "./statements-bed.ts";
import { HOUR_MS, reportUsage, StandingClock, usageCount } from "./usage-bed.ts";

setDefaultTimeout(60_000);

const audit = sharedAudit({}, startStatingAudit);

const report = (counts: unknown[]) => reportUsage(audit.internalUrl, counts, NOW);
const stated = (id: string, count: number) =>
  waitFor(async () => (await statementsOf(audit, id)).length === count, { what: `${count} statements` });
const exported = (id: string) => exportProof(audit, logOf(id));

/** Returns an organization with one statement, which covers two services and three policies. */
async function statedOrganization() {
  const id = ulid();
  const burst = { policy: "burst", is_shared: true };
  const daily = { policy: "daily", is_shared: false };
  await report([
    usageCount(id, HOUR, { policies: [burst, daily] }),
    usageCount(id, HOUR, { member_id: "member-2", policies: [daily] }),
    usageCount(id, HOUR, { service: "gears", policies: [daily, burst], requests: 1_204 }),
  ]);
  await stated(id, 1);
  return id;
}

describe("a usage statement", () => {
  // AU-131, AU-134
  test("has the sums of a month by service and by policy, one day after the month ends", async () => {
    const id = await statedOrganization();
    const sums = { refused: 6, refused_limit: 3, refused_labels: 2, refused_other: 1, failed: 1 };
    const one = { ...sums, bytes_in: 100, bytes_out: 2_000, duration_ms: 50 };
    const times = (count: number) =>
      Object.fromEntries(Object.entries(one).map(([name, value]) => [name, value * count]));
    const { body, status } = await read(id);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        usage_statements: [
          {
            id: `${MONTH}.1`,
            month: MONTH,
            from: new Date(monthStart(MONTH)).toISOString(),
            to: new Date(monthEnd(MONTH)).toISOString(),
            stated_at: NOW,
            corrects: null,
            corrected_by: null,
            position: 1,
            requests: 1_224,
            ...times(3),
            services: [
              { service: "gears", requests: 1_204, ...one },
              { service: "widgets", requests: 20, ...times(2) },
            ],
            policies: [
              { policy: "burst", service: null, requests: 1_214, ...times(2) },
              { policy: "daily", service: "gears", requests: 1_204, ...one },
              { policy: "daily", service: "widgets", requests: 20, ...times(2) },
            ],
          },
        ],
        has_more: false,
      },
    });
  });

  // AU-131, AU-132
  test("is a signed entry of the chain and of an export with proof, and the verifier lists it", async () => {
    const id = await statedOrganization();
    await writeEvents(audit, 2, { organization_id: id, occurred_at: NOW });
    const { text, end } = await exported(id);
    expect(end.statements).toMatchObject([{ id: `${MONTH}.1`, requests: 1_224, position: 1 }]);
    expect(end.head.position).toBe(4);
    const verdict = await verify(text, await keysOf(audit));
    expect(verdict).toMatchObject({ result: "complete", faults: [], events: 2, entries: 4 });
    expect(verdict.statements).toMatchObject([
      { id: `${MONTH}.1`, month: MONTH, requests: 1_224, position: 1 },
    ]);
  });

  // AU-133
  test("never changes: later usage creates a new statement that corrects it", async () => {
    const id = await statedOrganization();
    const [first] = (await exported(id)).end.statements ?? [];
    await report([usageCount(id, HOUR, { service: "late", requests: 5 })]);
    await stated(id, 2);
    await report([usageCount(id, HOUR, { requests: 7 })]);
    await stated(id, 3);
    const [third, second, kept] = await statementsOf(audit, id);
    expect(kept).toMatchObject({ id: `${MONTH}.1`, requests: 1_224, corrected_by: `${MONTH}.3` });
    expect(second).toMatchObject({ id: `${MONTH}.2`, requests: 1_229, corrects: `${MONTH}.1` });
    expect(third).toMatchObject({
      id: `${MONTH}.3`,
      requests: 1_236,
      corrects: `${MONTH}.2`,
      corrected_by: null,
    });
    const { text, end } = await exported(id);
    expect(end.statements?.[0]).toEqual(first);
    const verdict = await verify(text, await keysOf(audit));
    expect(verdict.result).toBe("complete");
    expect(verdict.statements).toMatchObject([{ id: `${MONTH}.3`, requests: 1_236, corrects: `${MONTH}.2` }]);
  });

  // AU-131
  test("is not written for a month that is not over, nor for an organization without usage", async () => {
    const [running, other] = [ulid(), await statedOrganization()];
    await report([usageCount(running, NEXT_HOUR), usageCount(other, NEXT_HOUR)]);
    await report([usageCount(other, HOUR)]);
    await stated(other, 2);
    expect(await statementsOf(audit, running)).toEqual([]);
    expect(await statementsOf(audit, ulid())).toEqual([]);
    expect((await exported(running)).end.statements).toBeUndefined();
    expect((await statementsOf(audit, other)).map(({ month }) => month)).not.toContain(NEXT_MONTH);
  });

  // AU-131
  test("is in no page of events and in no plain export", async () => {
    const id = await statedOrganization();
    expect((await audit.list(logOf(id))).audit_events).toEqual([]);
    expect(await (await audit.get(logOf(id), { Accept: "application/x-ndjson" })).text()).toBe("");
  });

  const read = async (id: string, query = "") => {
    const response = await audit.get(`/organizations/${id}/usage/statements${query}`);
    return { status: response.status, body: await json(response) };
  };

  // AU-134
  test("is found by its month, and pages list each statement once", async () => {
    const id = await statedOrganization();
    const earlier = new Date(monthStart(MONTH) - HOUR_MS).toISOString();
    await report([usageCount(id, earlier, { requests: 2 })]);
    await stated(id, 2);
    await report([usageCount(id, earlier, { requests: 3 })]);
    await stated(id, 3);
    const before = earlier.slice(0, 7);
    const ids = (await statementsOf(audit, id)).map((each) => each.id);
    expect(ids).toEqual([`${MONTH}.1`, `${before}.2`, `${before}.1`]);
    for (const [query, found] of [
      [`?month=${before}`, ids.slice(1)],
      ["?limit=1", ids.slice(0, 1)],
      [`?limit=1&starting_after=${ids[0]}`, ids.slice(1, 2)],
      [`?starting_after=${ids[1]}`, ids.slice(2)],
      ["?month=2020-01", []],
      ["?starting_after=2020-01.1", []],
    ] as const) {
      const { body } = await read(id, query);
      expect(body.usage_statements.map((each: { id: string }) => each.id)).toEqual([...found]);
    }
    expect((await read(ulid())).body).toEqual({ usage_statements: [], has_more: false });
  });

  // AU-134
  test("is 422 for an invalid query, and each invalid parameter is named", async () => {
    for (const [query, fields] of [
      ["?month=2026-13&limit=0&starting_after=x&by=day", ["month", "limit", "starting_after", "by"]],
      ["?month=&starting_after=", ["month", "starting_after"]],
      ["?month=2026-01-01", ["month"]],
      ["?month=2026-01&month=2026-02", ["month"]],
      ["?starting_after=2026-01.0", ["starting_after"]],
      ["?starting_after=2026-01.99999999999", ["starting_after"]],
      ["?starting_after=2026-01.1%00", ["starting_after"]],
    ] as const) {
      const response = await audit.get(`/organizations/${ulid()}/usage/statements${query}`);
      expect(await wrongFields(response)).toEqual(expect.arrayContaining([...fields]));
    }
    const response = await audit.get(`/organizations/${"x".repeat(129)}/usage/statements`);
    expect(await wrongFields(response)).toEqual(["organization_id"]);
  });

  // AU-122
  test("is not affected by a report with invalid policies: the report is 422 and names each", async () => {
    const id = ulid();
    const policies = [{ policy: "", is_shared: 1 }, { policy: "a\u0000" }, "x"];
    const counts = [policies, Array(4).fill({})].map((each) => usageCount(id, HOUR, { policies: each }));
    const body = { reported_until: NOW, is_last: true, uncounted: 0, counts };
    const response = await audit.send("PUT", `usage/gateway-${id}/1`, body);
    expect(await wrongFields(response)).toEqual(
      expect.arrayContaining([
        ...["counts[0].policies[0].policy", "counts[0].policies[0].is_shared"],
        ...["counts[0].policies[1].is_shared", "counts[0].policies[2]", "counts[1].policies"],
      ]),
    );
    expect(await statementsOf(audit, id)).toEqual([]);
  });
});

describe("a verifier", () => {
  // AU-132
  test("finds a statement that was changed, moved, added or removed", async () => {
    const id = await statedOrganization();
    await writeEvents(audit, 1, { organization_id: id, occurred_at: NOW });
    const whole = (await exported(id)).text;
    const keys = await keysOf(audit);
    const altered = async (
      change: (end: ReturnType<typeof readExport>["end"], first: Record<string, unknown>) => void,
    ) => {
      const found = readExport(whole);
      const [first] = found.end.statements ?? [];
      if (first === undefined) throw new Error("The export has no statement.");
      change(found.end, first);
      const verdict = await verify(exportText(found), keys);
      expect(verdict.result).toBe("altered");
      return verdict.faults.map(({ message }) => message).join("\n");
    };
    for (const change of [
      { requests: 1 },
      { corrects: `${MONTH}.1` },
      { id: `${MONTH}.2` },
      { month: NEXT_MONTH },
      { stated_at: new Date(NOW_MS + 1).toISOString() },
      { salt: "0".repeat(32) },
      { services: [] },
      { policies: [] },
    ]) {
      expect(await altered((_, first) => Object.assign(first, change))).toContain("is not what was sealed");
    }
    expect(await altered((end) => Reflect.deleteProperty(end, "statements"))).toContain("is missing");
    expect(await altered((end) => end.statements?.push(...end.statements))).toContain(
      "which another entry has",
    );
    expect(await altered((_, first) => Object.assign(first, { position: 9 }))).toContain("The chain goes on");
    expect(await altered((_, first) => Object.assign(first, { more: 1 }))).toContain("must end the proof");
  });

  // AU-132
  test.skipIf(!services().postgres.real)("finds a statement that the tables' owner changed", async () => {
    await using log = await openLog(audit);
    for (const statement of [
      "update audit.statements set statement = json_build_object('requests', 1) where organization_id = '$ID'",
      "update audit.statements set statement = replace(statement::text, '1224', '1225')::json where organization_id = '$ID'",
      "delete from audit.statements where organization_id = '$ID'",
      "update audit.statements set position = 2 where organization_id = '$ID'",
    ]) {
      const id = await statedOrganization();
      await tamperWith(log, statement.replaceAll("$ID", id));
      const { result } = await verify((await exported(id)).text, await keysOf(audit));
      expect([statement, result]).toEqual([statement, "altered"]);
    }
  });
});

describe.skipIf(!services().postgres.real)("at high concurrency,", () => {
  // AU-135
  test("two replicas write exactly one statement for each of 450 organizations", async () => {
    const idle = await startAudit({ clock: new StandingClock(monthStart(MONTH) + 200 * HOUR_MS) });
    const ids = Array.from({ length: 450 }, () => ulid());
    const reported_until = new Date(monthStart(MONTH) + 199 * HOUR_MS).toISOString();
    await reportUsage(
      idle.internalUrl,
      ids.map((id) => usageCount(id, HOUR)),
      reported_until,
    );
    await idle.stop();
    const { databaseUrl } = idle;
    const replicas = await Promise.all([
      startStatingAudit({ databaseUrl }),
      startStatingAudit({ databaseUrl }),
    ]);
    const log = await openLog(idle);
    try {
      const found = () =>
        sqlOn(log)<{ organization_id: string; number: number; place: string; requests: number }>`
          select organization_id, number, chain_id || '/' || position as place,
            (statement->>'requests')::integer as requests from audit.statements`;
      await waitFor(async () => (await found()).length >= ids.length, {
        timeoutMs: 30_000,
        what: "all statements",
      });
      const all = await found();
      expect(all.map(({ organization_id }) => organization_id).sort()).toEqual(ids.toSorted());
      expect(new Set(all.map(({ place }) => place)).size).toBe(ids.length);
      expect(all.every(({ number, requests }) => number === 1 && requests === 10)).toBe(true);
      const [one] = replicas;
      const keys = await keysOf(one);
      for (const id of [ids[0], ids[449]]) {
        const { text } = await exportProof(one, logOf(id ?? ""));
        expect(await verify(text, keys)).toMatchObject({ result: "complete", entries: 1 });
      }
    } finally {
      await log.close();
      await Promise.all(replicas.map((each) => each.stop()));
    }
  });

  // AU-133, AU-135
  test("reports that come while statements are written are all included in the last statement", async () => {
    const ids = Array.from({ length: 5 }, () => ulid());
    await Promise.all(
      Array.from({ length: 40 }, (_, turn) =>
        report(
          (turn % 2 === 0 ? ids : ids.toReversed()).map((id) => usageCount(id, HOUR, { requests: 1 + turn })),
        ),
      ),
    );
    for (const id of ids) {
      const all = () => statementsOf(audit, id);
      await waitFor(async () => (await all())[0]?.requests === 820, { what: "the last statement" });
      const found = await all();
      expect(found.map((each) => each.id)).toEqual(
        found.map((_, index) => `${MONTH}.${found.length - index}`),
      );
    }
  });
});

describe.skipIf(!services().postgres.real)("the database", () => {
  const log = sharedLog(audit);

  // AU-131
  test("and the service must both see that a month is over: one clock that is ahead is not enough", async () => {
    const id = ulid();
    const month = new Date().toISOString().slice(0, 7);
    await sqlOn(log)`
      insert into audit.usage_months (organization_id, month, service, policy, requests, refused_limit,
        refused_labels, refused_other, failed, bytes_in, bytes_out, duration_ms)
        values (${id}, ${month}, 's', '', 1, 0, 0, 0, 0, 0, 0, 0), (${id}, ${MONTH}, 's', '', 1, 0, 0, 0, 0, 0, 0, 0)`;
    const dueAt = async (nowMs: number) =>
      (await selectDue(log, { nowMs, limit: 10_000 }))
        .filter(({ organization_id }) => organization_id === id)
        .map((due) => due.month);
    const endMs = monthEnd(MONTH);
    expect(await dueAt(Date.now() + 400 * 24 * HOUR_MS)).not.toContain(month);
    expect(await dueAt(endMs + 24 * HOUR_MS - 1)).toEqual([]);
    expect(await dueAt(0)).toEqual([]);
  });

  // AU-136
  test("refuses every change of a statement", async () => {
    const id = await statedOrganization();
    for (const statement of ["update audit.statements set number = 7", "delete from audit.statements"]) {
      const change = sqlOn(log)`${sql.raw(`${statement} where organization_id = '${id}'`)}`;
      expect(await rejection(change)).toBeInstanceOf(Error);
    }
  });

  // AU-136
  test("holds back the statement of an altered log until the log is restored", async () => {
    const id = ulid();
    await writeEvents(audit, 2, { organization_id: id, occurred_at: NOW });
    const owner = `organization:${id}`;
    await exported(id);
    const set = (by: number) =>
      tamperWith(log, `update audit.chains set position = position + ${by} where owner = '${owner}'`);
    await set(-1);
    await report([usageCount(id, HOUR)]);
    const isAside = async () =>
      (await sqlOn(log)`select from audit.altered_chains where owner = ${owner}`).length === 1;
    await waitFor(isAside, { what: "the audit service to set the log aside" });
    expect(await statementsOf(audit, id)).toEqual([]);
    await set(1);
    await waitFor(async () => (await statementsOf(audit, id)).length === 1, { timeoutMs: 30_000 });
    expect(await verify((await exported(id)).text, await keysOf(audit))).toMatchObject({
      result: "complete",
    });
  });
});
