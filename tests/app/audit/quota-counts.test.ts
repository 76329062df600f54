/** Tests charges to quotas: gateways report them, and ask for the sums (AU-191 to AU-193). */
import { describe, expect, test } from "bun:test";
import { QUOTA_LOOKUPS_MAX, USAGE_QUOTAS_MAX } from "@ostiary/lib/contracts/usage-contract";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { ulid } from "ulid";
import { quotaSweeper } from "../../../apps/audit/usage/quota-sweeper.ts";
import { services, waitFor } from "../../support/index.ts";
import { heldTransaction } from "../../support/stores/held-transaction.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { wordsOf } from "../../support/words.ts";
import { json, openLog, sharedAudit, sqlOn, wrongFields } from "./bed.ts";
import { StandingClock } from "./usage-bed.ts";

const POLICY = "local:widgets:quota";
/** The day on which the service's clock stands still, so that no period ends during a test. */
const TODAY = "2026-03-04";
const NOW = Date.parse(`${TODAY}T06:30:00.000Z`);

const audit = sharedAudit({ clock: new StandingClock(NOW) });

function quota(subject: string, changes: Record<string, unknown> = {}) {
  return { policy: POLICY, period: "2026-03", subject, ...changes };
}
const charge = (subject: string, count: number, changes: Record<string, unknown> = {}) =>
  quota(subject, { count, ...changes });

function report(quotas: unknown, { instance = `gateway-${ulid()}`, number = 1 } = {}) {
  const reported_until = new Date(NOW).toISOString();
  const body = { reported_until, is_last: false, uncounted: 0, counts: [], quotas };
  return audit.send("PUT", `usage/${instance}/${number}`, body);
}

const ask = (quotas: unknown) => audit.send("POST", "quota-counts", { quotas });

async function countsOf(...quotas: unknown[]): Promise<number[]> {
  const response = await ask(quotas);
  const body = await json(response);
  expect({ status: response.status, body }).toMatchObject({ status: 200 });
  return body.counts;
}

describe("charges to quotas", () => {
  // AU-191
  test("add up by policy, period and subject, across gateways, and refunds are subtracted", async () => {
    const [one, other] = [ulid(), ulid()];
    await report([charge(one, 5), charge(one, 2), charge(other, 1), charge(one, 3, { period: TODAY })]);
    await report([charge(one, -4), charge(one, 9, { policy: "shared:quota" })]);
    expect(
      await countsOf(
        quota(one),
        quota(other),
        quota(one, { period: TODAY }),
        quota(one, { policy: "shared:quota" }),
        quota(one, { period: "2026-02" }),
        quota(ulid()),
        quota(one),
      ),
    ).toEqual([3, 1, 3, 9, 0, 0, 3]);
  });

  // AU-191
  test("that are refunded before they are reported count as 0 until then", async () => {
    const id = ulid();
    await report([charge(id, -3)]);
    expect(await countsOf(quota(id))).toEqual([0]);
    await report([charge(id, 4)]);
    expect(await countsOf(quota(id))).toEqual([1]);
  });

  // AU-191
  test.skipIf(!services().postgres.real)(
    "that 8 gateways send at once, twice each and in opposite orders, are counted once",
    async () => {
      const ids = Array.from({ length: 60 }, () => ulid());
      const charges = ids.map((id) => charge(id, 2));
      const responses = await Promise.all(
        Array.from({ length: 16 }, (_, turn) =>
          report(turn % 2 === 0 ? charges : charges.toReversed(), {
            instance: `gateway-${ids[0]}-${turn >> 1}`,
          }),
        ),
      );
      expect(responses.filter(({ status }) => status === 201)).toHaveLength(8);
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(8);
      expect(await countsOf(...ids.map((id) => quota(id)))).toEqual(ids.map(() => 16));
    },
  );

  // AU-191
  test.skipIf(!services().postgres.real)(
    "are locked in the order of their keys: a report that waits for the first count locks no other count",
    async () => {
      const subjects = Array.from({ length: 40 }, (_, n) => `ordered-${n}`);
      const charges = subjects.map((subject) => charge(subject, 1));
      expect((await report(charges)).status).toBe(201);
      await using log = await openLog(audit);
      const named = sql`audit.quota_counts where subject in (
        select json_array_elements_text(${JSON.stringify(subjects)}::text::json))`;
      const first = await heldTransaction(log, (tx) =>
        tx.execute(sql`select 1 from ${named} order by id limit 1 for update`),
      );
      const reported = report(charges);
      await waitFor(async () => {
        const waiting = await sqlOn(log)`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        return waiting.length === 1;
      });
      const unlocked = await log.run("test", (orm) =>
        rows(orm, sql`select 1 from ${named} for update skip locked`),
      );
      expect(unlocked).toHaveLength(39);
      await first.commit();
      expect((await reported).status).toBe(201);
    },
  );

  // AU-191, AU-192
  test("are accepted up to the contract's maximum number and text lengths", async () => {
    const policy = `route:DELETE:${"/%25".repeat(796)}`;
    const subject = "ü".repeat(120);
    const quotas = Array.from({ length: USAGE_QUOTAS_MAX }, (_, index) =>
      charge(`${subject}${index}`, 1, { policy, newer: true }),
    );
    expect((await report(quotas)).status).toBe(201);
    const asked = quotas.slice(0, QUOTA_LOOKUPS_MAX);
    expect(await countsOf(...asked)).toEqual(asked.map(() => 1));
    expect(await wrongFields(await report([...quotas, charge("o", 1)]))).toEqual(["quotas"]);
    expect(await wrongFields(await ask(quotas.slice(0, QUOTA_LOOKUPS_MAX + 1)))).toEqual(["quotas"]);
  });

  // AU-191
  test("are not counted if any of them is invalid: the report is 422 and names every violation", async () => {
    const id = ulid();
    const wrong = [
      charge(id, 7),
      charge(id, 1.5, { policy: "" }),
      charge("\0", 1, { period: "2026-02-30", policy: "with a space" }),
      charge("x".repeat(129), 2 ** 60, { period: "2026-13" }),
      charge(id, 1, { period: "2026-03-06" }),
      charge(id, 1, { period: "2024-12" }),
      { policy: null, period: 7, subject: [], count: "1" },
      "quota",
    ];
    expect((await wrongFields(await report(wrong))).toSorted()).toEqual(
      wordsOf(`
        quotas[1].policy quotas[1].count quotas[2].policy quotas[2].period quotas[2].subject
        quotas[3].subject quotas[3].count quotas[3].period quotas[4].period quotas[5].period
        quotas[6].policy quotas[6].period quotas[6].subject quotas[6].count quotas[7]
      `).toSorted(),
    );
    expect(await wrongFields(await report({}))).toEqual(["quotas"]);
    expect(await countsOf(quota(id))).toEqual([0]);
  });
});

describe("the usage of an organization", () => {
  // AU-194
  test("lists its quotas of the current day and month, those with the least left first", async () => {
    const id = ulid();
    await report([
      charge(id, 5, { requests: 100 }),
      charge(id, 9, { policy: "shared:a%3Ab", period: TODAY, requests: 10 }),
      charge(id, 3, { policy: "route:GET:/w/%7Bid%7D:day", period: TODAY }),
      charge(id, 7, { period: "2026-02", requests: 9 }),
      charge(id, 7, { period: "2026-03-03", requests: 9 }),
      charge(ulid(), 7, { requests: 9 }),
      charge(id, 2, { policy: "denied" }),
    ]);
    await report([charge(id, 15, { requests: 200 })]);
    await report([charge(id, 1)]);
    const month = { from: "2026-03-01T00:00:00.000Z", to: "2026-04-01T00:00:00.000Z" };
    const day = { from: "2026-03-04T00:00:00.000Z", to: "2026-03-05T00:00:00.000Z" };
    const none = { policy: null, service: null, method: null, route: null };
    const { quotas } = await json(await audit.get(`/organizations/${id}/usage?by=service`));
    expect(quotas).toEqual([
      { ...none, policy: "a:b", period: "day", ...day, requests: 10, charged: 9 },
      { ...none, policy: "quota", service: "widgets", period: "month", ...month, requests: 200, charged: 21 },
      { ...none, method: "GET", route: "/w/{id}", period: "day", ...day, requests: null, charged: 3 },
    ]);
  });
});

describe("a request for counts", () => {
  // AU-192
  test.each(["[]", '{"quotas":[]}'])("with the body %s is 422", async (body) => {
    expect((await audit.send("POST", "quota-counts", body)).status).toBe(422);
  });

  // AU-192
  test("of more than a mebibyte is 413", async () => {
    expect((await ask([quota("o".repeat(1_048_576))])).status).toBe(413);
  });
});

// AU-193
test.skipIf(!services().postgres.real)(
  "counts are deleted two days after their period ends, in several transactions if they are many",
  async () => {
    await using log = await openLog(audit);
    const policy = `swept-${ulid()}`;
    await sqlOn(log)`
    insert into audit.quota_counts (id, policy, period, subject, ends_at, count)
    select sha256(convert_to(${policy} || n, 'UTF8')), ${policy}, '2025-01-01', n::text, '2025-01-02', 1
    from generate_series(1, 5001) n`;
    const kept = [charge(policy, 1, { period: "2026-03-02" }), charge(policy, 1, { period: "2026-02" })];
    await report([...kept, charge(policy, 1, { period: "2026-03-01" })]);
    const sweeper = quotaSweeper({
      database: log,
      log: { warn: () => {} },
      clock: manualClock("2026-03-05T00:00:00.000Z"),
    });
    sweeper.start();
    await waitFor(async () => {
      const left = await sqlOn(log)<{ period: string }>`
      select period from audit.quota_counts where policy = ${policy} or subject = ${policy}`;
      const periods = left.map(({ period }) => period).toSorted();
      return periods.join() === "2026-03-02" ? true : null;
    });
    await sweeper.stop();
  },
);
