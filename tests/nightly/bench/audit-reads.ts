import { type EventFilter, eventBounds } from "@ostiary/audit/events/filter";
import { readLimits, selectEvents } from "@ostiary/audit/events/sql";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { encodeTime } from "ulid";
import { BUSY_ORGANIZATION, generateLog } from "../../app/audit/generated-log.ts";
import { AuditBed } from "./audit/bed.ts";
import type { Bench } from "./bench.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import { type Spread, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";

const SPAN_MS = 365 * 86_400_000;
/** The cursor positions to measure, each as the share of the log that is older than the cursor. */
const DEPTHS = [1, 0.5, 0.05];

type Wanted = Pick<EventFilter, "exact"> & {
  params?: Record<string, string>;
  from?: number;
  before?: number;
};

/** The filters to measure, with common values and with values that only the oldest tenth of the log has. */
const filters: Record<string, Wanted> = {
  "no filter": { exact: {} },
  actor_member_id: { exact: { actor_member_id: "member-7" } },
  service: { exact: { service: "service-1" } },
  "service, long gone": { exact: { service: "retired" } },
  "method, long gone": { exact: { method: "HEAD" } },
  "route, long gone": { exact: { route: "/org/retired/{widget_id}" } },
  "outcome, none": { exact: { outcome: "no_response" } },
  "created_id, long gone": { exact: { created_id: "retired" } },
  request_id: { exact: { request_id: "request-777" } },
  "params, common": { exact: {}, params: { widget_id: "common" } },
  "params, long gone": { exact: {}, params: { widget_id: "retired" } },
  "one hour": { exact: {}, from: 0.4, before: 0.4 + 1 / (365 * 24) },
  "service and time": { exact: { service: "service-1" }, before: 0.3 },
  "service and outcome": { exact: { service: "service-1", outcome: "rejected" } },
};

interface ReadFigure {
  readonly filter: string;
  /** The time to read one page, by cursor position (one of `DEPTHS`). */
  readonly page_ms: Record<string, Spread>;
}

/** Measures the time to read one page of the audit log, by filter and cursor position. */
export const auditReads: Bench = {
  summary:
    "time to read a page of a log of ten million events (--quick: 300 000), by filter and cursor position",
  async run({ quick, progress }) {
    const machine = describeMachine();
    const events = quick ? 300_000 : 10_000_000;
    await using bed = new AuditBed([]);
    const { url } = await bed.database();
    await bed.service(url); // migrates the database
    const database = await openDatabase(url, {
      namespace: "audit",
      deadlineMs: 600_000,
      progressMs: 600_000,
    });
    const endMs = Date.now();
    await generateLog(database, { events, endMs, spanMs: SPAN_MS }, progress);
    await database.close();
    const reads = await openDatabase(url, { namespace: "audit", ...readLimits, poolMax: 1 });
    const atMs = (part: number) => Math.round(endMs - SPAN_MS + SPAN_MS * part);
    const figures: ReadFigure[] = [];
    for (const [name, wanted] of Object.entries(filters)) {
      progress(name);
      const page_ms: Record<string, Spread> = {};
      for (const depth of DEPTHS) {
        const samples = await pages(20, async (round) => {
          // Each round reads a different page, so the figures do not come from cached blocks of one page.
          const cursor = encodeTime(atMs(depth) - round * 3_600_000) + "0".repeat(16);
          const filter = filterOf(wanted, atMs);
          const bounds = eventBounds(filter, cursor);
          if (bounds !== null) await selectEvents(reads, filter, bounds);
        });
        page_ms[String(depth)] = spreadOf(samples);
      }
      figures.push({ filter: name, page_ms });
    }
    await reads.close();
    return { text: textOf(machineLine(machine), events, figures), data: { machine, events, figures } };
  },
};

function filterOf({ exact, params, from, before }: Wanted, atMs: (part: number) => number): EventFilter {
  const instant = (part: number | undefined) =>
    part === undefined ? null : Temporal.Instant.fromEpochMilliseconds(atMs(part));
  return {
    log: { kind: "organization", id: BUSY_ORGANIZATION },
    exact,
    params: new Map(Object.entries(params ?? {})),
    from: instant(from),
    before: instant(before),
  };
}

async function pages(rounds: number, read: (round: number) => Promise<void>): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now();
    await read(round);
    if (round > 0) samples.push(performance.now() - started); // the first run prepares the statement
  }
  return samples;
}

function textOf(machine: string, events: number, figures: readonly ReadFigure[]): string {
  const head = ["page of 100, ms: median (max)", ...DEPTHS.map((depth) => `${whole(depth * 100)} % older`)];
  const rows = figures.map(({ filter, page_ms }) => [
    filter,
    ...DEPTHS.map((depth) => {
      const { median, max } = page_ms[String(depth)] ?? { median: Number.NaN, max: Number.NaN };
      return `${median.toFixed(1)} (${max.toFixed(1)})`;
    }),
  ]);
  return [
    machine,
    `${whole(events)} events over twelve months, half of them in the log that is read`,
    "",
    table(head, rows),
  ].join("\n");
}
