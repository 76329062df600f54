import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { tamperWith } from "../../app/audit/proof-bed.ts";
import { GROUP, openLog, sealAll, timeOf, writeGroups } from "./audit/log.ts";
import type { Bench, Progress } from "./bench.ts";
import { Bed } from "./measure/bed.ts";
import { table, whole } from "./measure/table.ts";

const EVENTS_PER_SECOND_MIN = 5_000;

/** Measures how fast a sealer seals events of a thousand logs, and then events that each belong to a different log. */
export const sealing: Bench = {
  summary: "how fast events are sealed, in a thousand logs and with each event in one of a million logs",
  async run({ quick, progress }) {
    const logs = quick ? 20_000 : 1_000_000;
    await using bed = new Bed([]);
    const { url } = await bed.database();
    const sealed = await sealingFew(url, quick ? 20 : 100, progress);
    const many = await sealingMany(url, logs, progress);
    const rows = [
      ["events sealed a second", whole(sealed.events_per_second), `above ${EVENTS_PER_SECOND_MIN}`],
      ["CPU of the sealing process for an event, µs", whole(sealed.cpu_us), ""],
      [
        `events sealed a second, each in a different one of ${whole(logs)} logs`,
        whole(many.events_per_second),
        `above ${EVENTS_PER_SECOND_MIN}`,
      ],
      ["CPU of the sealing process for one of these events, µs", whole(many.cpu_us), ""],
      ["new nodes in the head map for one of these events", many.nodes.toFixed(1), ""],
    ];
    return {
      parts: [table(["", "measured", "goal"], rows)],
      data: { sealed, many },
    };
  },
};

/** Measures how many events of a backlog a sealer seals in a second. The events belong to a thousand logs. */
async function sealingFew(url: string, groups: number, progress: Progress) {
  await using sealed = await openLog(url, "sealed");
  progress(`writing ${whole(groups * GROUP)} events to seal`);
  await writeGroups(sealed.log, groups);
  const cpu = process.cpuUsage();
  const takenMs = await timeOf(() => sealAll(sealed.log));
  const { user, system } = process.cpuUsage(cpu);
  const events = groups * GROUP;
  return { events, events_per_second: (events / takenMs) * 1000, cpu_us: (user + system) / events };
}

const INSERTED = 2_500;
const MEASURED = 20_000;

/** Measures how many events a sealer seals in a second when each event belongs to a different log. */
async function sealingMany(url: string, logs: number, progress: Progress) {
  await using many = await openLog(url, "many");
  progress(`sealing the first event of each of ${whole(logs)} logs`);
  for (let from = 0; from < logs; from += INSERTED) {
    await insertEvents(many.log, from, logs);
    if (from % (10 * INSERTED) === 0) await sealAll(many.log);
  }
  await sealAll(many.log);
  // one altered chain holds up no other one
  await tamperWith(many.log, "update audit.chains set chain = sha256('x') where id = 1");
  const before = await countIn(many.log, "audit.head_map");
  progress(`sealing ${whole(MEASURED)} events, each of a different log`);
  for (let from = logs; from < logs + MEASURED; from += INSERTED) await insertEvents(many.log, from, logs);
  const cpu = process.cpuUsage();
  const takenMs = await timeOf(() => sealAll(many.log));
  const { user, system } = process.cpuUsage(cpu);
  const nodes = ((await countIn(many.log, "audit.head_map")) - before) / MEASURED;
  const sealed = await countIn(many.log, "audit.entries");
  const left = await countIn(many.log, "audit.altered_chains");
  if (sealed + left < logs + MEASURED || left > 1)
    throw new Error(`${sealed} entries are sealed, and ${left} logs are left out.`);
  return { logs, events_per_second: (MEASURED / takenMs) * 1000, cpu_us: (user + system) / MEASURED, nodes };
}

/** Inserts the events with numbers from `from` on. Consecutive events belong to different logs. */
async function insertEvents(log: Database, from: number, logs: number): Promise<void> {
  await log.run("insert_events", (orm) =>
    rows(
      orm,
      sql`with made as (
          insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service, method,
            route, params, ip)
          select lpad(n::text, 26, '0'), 'request-' || n, now(), 'organization-' || n % ${logs}::integer, 'jwt', 's',
            'GET', '/', '{}', '::'
          from generate_series(${from}::integer, ${from + INSERTED - 1}::integer) n
          returning id, request_id, occurred_at)
        insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`,
    ),
  );
}

async function countIn(log: Database, table: string): Promise<number> {
  const [found] = await log.run("count", (orm) =>
    rows<{ count: number }>(orm, sql`select count(*)::integer as count from ${sql.raw(table)}`),
  );
  return found?.count ?? 0;
}
