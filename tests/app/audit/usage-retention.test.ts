import { expect, test } from "bun:test";
import { ulid } from "ulid";
import { dropUsage } from "../../../apps/audit/usage/retention-sql.ts";
import { newLog, sqlOn } from "./bed.ts";

// AU-139
test("usage from before a month is deleted once by two jobs at once, with its events and its gateways", async () => {
  await using log = await newLog();
  const sql = sqlOn(log);
  const [before, month] = ["2010-05-31T23:00:00Z", "2010-06-01T00:00:00Z"];
  const [old, kept] = [before, month].map((time) => ulid(Date.parse(time)));
  await sql`insert into audit.usage_counts
    select 'organization-' || n, hour::timestamptz, 's', '/', 'GET', 'm', '', 1, 0, 0, 0, 0, 0, 0, 0
      from generate_series(1, 20) n, (values (${before}), (${month})) hours(hour)`;
  await sql`insert into audit.usage_events
    select id, 'o', '2010-05-31T20:00:00Z', 's', '/', 'GET', 'm', '', 1, 0, 0, 0, 0, 0, 0, 0
      from (values (${old}), (${kept})) ids(id)`;
  await sql`insert into audit.usage_reporters
    values ('old', 1, ${before}::text::timestamptz, true, 0), ('kept', 1, ${month}::text::timestamptz, false, 0)`;
  const drop = () => log.transaction("drop_usage", (tx) => dropUsage(tx, "2010-06"));
  const jobs = await Promise.all([drop(), drop()]);
  expect(jobs.toSorted((a, b) => a.counts - b.counts)).toEqual([
    { counts: 0, events: 0 },
    { counts: 20, events: 1 },
  ]);
  const left = await sql`select (select count(*)::integer from audit.usage_counts
      where hour >= ${month}::text::timestamptz) as counts,
    (select array_agg(id) from audit.usage_events) as events,
    (select array_agg(instance) from audit.usage_reporters) as gateways`;
  expect(left).toEqual([{ counts: 20, events: [kept], gateways: ["kept"] }]);
});
