import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Database, openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { encodeTime } from "ulid";
import { readLimits, selectStatement } from "../../../apps/audit/events/event-sql.ts";
import { type EventFilter, eventBounds } from "../../../apps/audit/events/filter.ts";
import { BUSY_ORGANIZATION, BUSY_USER, generateLog } from "../../support/audit/generated-log.ts";
import { services } from "../../support/index.ts";
import { openLog, startAudit } from "./bed.ts";

setDefaultTimeout(120_000);

const EVENTS = 20_000;
/** A fixed time in the middle of a month: shortly after a month begins, a scan of its few events is the best plan. */
const END_MS = Date.UTC(2026, 5, 20);
const SPAN_MS = 150 * 86_400_000;
/**
 * The maximum number of 8 KiB blocks that the database may access for a page: a few for each of the page's
 * 100 events and for each month's index.
 */
const PAGE_BLOCKS_MAX = 600;
/**
 * The maximum number of events that the database may read for a page and then filter out. In months with few events,
 * the planner may choose a less specific index. Without a fitting index, it would be thousands.
 */
const PASSED_OVER_MAX = 250;

type Wanted = Partial<Pick<EventFilter, "exact">> & {
  params?: Record<string, string>;
  /** A time as a fraction of the log's time span. */
  from?: number;
  /** A time as a fraction of the log's time span. */
  before?: number;
};

/** Filters by one field: for common values, for values that only old events have, and for unknown values. */
const single: Record<string, Wanted> = {
  "no filter": {},
  "actor_member_id, common": { exact: { actor_member_id: "member-7" } },
  "actor_member_id, gone": { exact: { actor_member_id: "retired" } },
  "service, common": { exact: { service: "service-1" } },
  "method, common": { exact: { method: "DELETE" } },
  "route, common": { exact: { route: "/org/widgets-3/{widget_id}" } },
  "outcome, common": { exact: { outcome: "responded" } },
  "outcome, gone": { exact: { outcome: "pending" } },
  "request_id, known": { exact: { request_id: "request-777" } },
  "created_id, gone": { exact: { created_id: "retired" } },
  "params, common": { params: { widget_id: "common" } },
  "params, gone": { params: { widget_id: "retired" } },
  occurred_after: { from: 0.4 },
  occurred_before: { before: 0.4 },
  "occurred_after and occurred_before": { from: 0.4, before: 0.401 },
};

/** Pairs of filters that users combine: a field and a time, or two fields. */
const pairs: Record<string, Wanted> = {
  "actor_member_id and time": { exact: { actor_member_id: "member-7" }, from: 0.2, before: 0.5 },
  "service and time": { exact: { service: "service-1" }, before: 0.3 },
  "params and time": { params: { widget_id: "common" }, before: 0.3 },
  "actor_member_id and service": { exact: { actor_member_id: "member-7", service: "service-1" } },
  "service and params": { exact: { service: "service-1" }, params: { widget_id: "widget-4242" } },
};

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: Plan[];
}

// AU-40
describe.skipIf(!services().postgres.real)(`a page of a log of ${EVENTS} events`, () => {
  let log: Database;

  beforeAll(async () => {
    const audit = await startAudit();
    await audit.stop();
    const filled = await openLog(audit);
    await generateLog(filled, { events: EVENTS, endMs: END_MS, spanMs: SPAN_MS });
    await filled.close();
    log = await openDatabase(audit.databaseUrl, { namespace: "audit", ...readLimits });
  });
  afterAll(() => log.close());

  const atMs = (part: number) => Math.round(END_MS - SPAN_MS + SPAN_MS * part);
  const instant = (part: number | undefined) =>
    part === undefined ? null : Temporal.Instant.fromEpochMilliseconds(atMs(part));

  /**
   * Returns the executed query plan of a page that starts at `depth`, a fraction of the log's time span.
   * Returns null if no event before that time can match the filter.
   */
  async function explain(
    kind: "organization" | "user",
    wanted: Wanted,
    depth: number,
  ): Promise<Plan[] | null> {
    const filter: EventFilter = {
      log: { kind, id: kind === "organization" ? BUSY_ORGANIZATION : BUSY_USER },
      exact: wanted.exact ?? {},
      params: new Map(Object.entries(wanted.params ?? {})),
      from: instant(wanted.from),
      before: instant(wanted.before),
    };
    const bounds = eventBounds(filter, depth === 1 ? null : encodeTime(atMs(depth)) + "0".repeat(16));
    if (bounds === null) return null;
    const statement = sql`explain (analyze, buffers, timing off, format json)
      ${selectStatement(filter, bounds)} limit 101`;
    const found = await log.run("explain", (orm) => rows<{ "QUERY PLAN": [{ Plan: Plan }] }>(orm, statement));
    const [row] = found;
    return row === undefined ? null : nodes(row["QUERY PLAN"][0].Plan);
  }

  test("is planned for its own values, even after many similar pages were read", async () => {
    const filter: EventFilter = {
      log: { kind: "organization", id: BUSY_ORGANIZATION },
      exact: { service: "service-1" },
      params: new Map(),
      from: null,
      before: instant(0.5),
    };
    const bounds = eventBounds(filter, null);
    if (bounds === null) throw new Error("The filter matches no time.");
    const plans = await log.transaction("read", async (tx) => {
      for (let page = 0; page < 20; page++) await rows(tx, selectStatement(filter, bounds));
      return rows<{ generic: number }>(
        tx,
        sql`select sum(generic_plans)::int as generic from pg_prepared_statements
            where statement like 'select event.%'`,
      );
    });
    expect(plans).toEqual([{ generic: 0 }]);
  });

  for (const kind of ["organization", "user"] as const) {
    test.each(Object.entries(single))(
      `of a ${kind} by one filter reads few blocks at every depth: %s`,
      async (_, wanted) => {
        for (const depth of [1, 0.9, 0.5, 0.08]) {
          const plan = await explain(kind, wanted, depth);
          if (plan === null) continue;
          expect(scanned(plan)).toEqual([]);
          expect(blocks(plan)).toBeLessThan(PAGE_BLOCKS_MAX);
          if (wanted.from === undefined && wanted.before === undefined)
            expect(passedOver(plan)).toBeLessThan(PASSED_OVER_MAX);
        }
      },
    );

    test.each(Object.entries(pairs))(`of a ${kind} by two filters uses an index: %s`, async (_, wanted) => {
      for (const depth of [1, 0.5, 0.08]) {
        const plan = await explain(kind, wanted, depth);
        if (plan !== null) expect(scanned(plan)).toEqual([]);
      }
    });
  }
});

function nodes(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

/**
 * Returns the tables that were read without an index. Ignores empty ones, which are those of future months.
 */
function scanned(plan: Plan[]): (string | undefined)[] {
  return plan
    .filter((node) => node["Node Type"] === "Seq Scan" && node["Relation Name"] !== undefined)
    .filter((node) => node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) > 0)
    .map((node) => node["Relation Name"]);
}

/** Returns the number of events that were read and then filtered out. */
function passedOver(plan: Plan[]): number {
  return plan.reduce((sum, node) => sum + (node["Rows Removed by Filter"] ?? 0) * node["Actual Loops"], 0);
}

function blocks([root]: Plan[]): number {
  return root === undefined ? 0 : root["Shared Hit Blocks"] + root["Shared Read Blocks"];
}
