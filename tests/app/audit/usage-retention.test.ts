import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { dropUsage } from "@ostiary/audit/usage/retention-sql";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { ulid } from "ulid";
import { duringTests } from "../../support/during-tests.ts";
import { services } from "../../support/index.ts";
import { openLog, sqlOn, startAudit } from "./audit-service.ts";

setDefaultTimeout(60_000);

describe.skipIf(!services().postgres.real)("usage that is older than the retention period", () => {
  /** A log without a running service. */
  const log = duringTests(async () => {
    const audit = await startAudit();
    await audit.stop();
    return openLog(audit);
  });

  const run = (statement: string) =>
    log.run("run", (orm) => rows<{ count: number }>(orm, sql.raw(statement)));
  const TOTALS = "1, 0, 0, 0, 0, 0, 0, 0";

  /** Inserts the usage of an organization in an hour. */
  async function use(id: string, hour: string) {
    await run(
      `insert into audit.usage_counts values ('${id}', '${hour}', 's', '/', 'GET', 'm', '', ${TOTALS})`,
    );
  }
  const hoursOf = async (id: string) =>
    (
      await sqlOn(log)<{ month: string }>`
        select to_char(hour at time zone 'UTC', 'YYYY-MM') as month from audit.usage_counts
          where organization_id = ${id} order by 1`
    ).map(({ month }) => month);

  // AU-139
  test("is deleted, and newer months are kept", async () => {
    const [id, other] = [ulid(), ulid()];
    await use(id, "2020-01-01T00:00:00Z");
    await use(id, "2020-02-29T23:00:00Z");
    await use(id, "2020-03-01T00:00:00Z");
    await use(other, "2020-01-31T23:00:00Z");
    expect(await dropUsage(log, "2020-03")).toMatchObject({ counts: 3 });
    expect(await hoursOf(id)).toEqual(["2020-03"]);
    expect(await hoursOf(other)).toEqual([]);
    expect(await dropUsage(log, "2020-03")).toEqual({ counts: 0, events: 0 });
    expect(await dropUsage(log, "2020-04")).toEqual({ counts: 1, events: 0 });
  });

  // AU-139
  test("is deleted by two jobs at once, with its events and its gateways", async () => {
    await run(`insert into audit.usage_counts select 'many-' || n, '2010-05-05T00:00:00Z', 's', '/', 'GET', 'm', '', ${TOTALS}
      from generate_series(1, 20) n`);
    const at = (time: string) => ulid(Date.parse(time));
    const [old, kept] = [at("2010-05-31T23:59:59Z"), at("2010-06-01T00:00:00Z")];
    for (const id of [old, kept]) {
      await run(
        `insert into audit.usage_events values ('${id}', 'o', '2010-05-31T20:00:00Z', 's', '/', 'GET', 'm', '', ${TOTALS})`,
      );
    }
    await run(`insert into audit.usage_reporters values ('g-${old}', 1, '2010-05-31T23:00:00Z', true, 0),
      ('g-${kept}', 1, '2010-06-01T00:00:00Z', false, 0)`);
    const both = await Promise.all([dropUsage(log, "2010-06"), dropUsage(log, "2010-06")]);
    expect(both.reduce((sum, { counts }) => sum + counts, 0)).toBe(20);
    expect(both.reduce((sum, { events }) => sum + events, 0)).toBe(1);
    const [left] =
      await run(`select (select count(*) from audit.usage_counts where organization_id like 'many-%')
      + (select count(*) from audit.usage_events where id = '${old}')
      + (select count(*) from audit.usage_reporters where instance = 'g-${old}') as count`);
    expect(left?.count).toBe(0);
    const [stays] = await run(`select (select count(*) from audit.usage_events where id = '${kept}')
      + (select count(*) from audit.usage_reporters where instance = 'g-${kept}') as count`);
    expect(stays?.count).toBe(2);
  });
});
