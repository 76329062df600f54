import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { waitFor } from "../../support/time/wait-for.ts";
import { AuditBed } from "./audit/bed.ts";
import { openLog, sealAll } from "./audit/log.ts";
import type { Bench, Progress } from "./bench.ts";
import { countOf } from "./measure/count.ts";
import { type Goal, goalTable, judge } from "./measure/goal-table.ts";
import { describeMachine, machineLine, residentBytes } from "./measure/machine.ts";
import type { ServiceProcess } from "./measure/service-bed.ts";
import { spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import {
  createStream,
  type Receivers,
  startReceivers,
  startStreaming,
  timedWrite,
  timedWrites,
  writesOf,
  writesText,
} from "./streams/bed.ts";

const MIB = 1_048_576;
const FAST_ORGANIZATION = "organization-fast";
/**
 * The number and the size of the events that each silent stream has to deliver: enough for the largest batch.
 */
const [EVENTS, EVENT_BYTES] = [100, 2_000];
/**
 * How long the bench runs with silent receivers: long enough for an attempt of each of a thousand streams.
 */
const WATCHED_MS = 120_000;
const WATCHED_QUICK_MS = 20_000;
const LOOK_MS = 100;
const ARRIVAL_MS_MAX = 60_000;

const LATE: Goal = { title: "longest time from a write to the fast receiver, s", bound: 5, at_most: true };
const GROWTH: Goal = { title: "additional memory with silent receivers, MiB", bound: 256, at_most: true };
const MEDIAN: Goal = {
  title: "median of a write, with silent receivers / without",
  bound: 1.25,
  at_most: true,
};
const P99: Goal = { title: "p99 of a write, with silent receivers / without", bound: 1.25, at_most: true };

/**
 * Returns the bench `stream-lanes`, which measures how streams with silent receivers affect memory, other
 * streams and writers. A silent receiver accepts deliveries and never responds.
 *
 * @param given the number of streams with silent receivers
 */
export function streamLanesOf(given?: string): Bench {
  return {
    summary:
      "how streams whose receivers never respond affect memory, other streams and writers: stream-lanes [STREAMS]",
    async run({ quick, progress }) {
      const machine = describeMachine();
      const streams = countOf("stream-lanes", "streams", given) ?? (quick ? 100 : 1_000);
      await using bed = new AuditBed([]);
      const { url } = await bed.database();
      await using logs = await openLog(url, "lanes");
      progress(`writing ${whole(EVENTS)} events to each of ${whole(streams)} logs`);
      await fillLogs(logs.log, streams);
      await using receivers = await startReceivers();
      const service = await startStreaming(bed, logs.url, receivers);
      await startFast(service, receivers);
      progress("writing without silent receivers");
      await timedWrites(service, 300);
      const quietMs = await timedWrites(service, quick ? 300 : 1_500);
      const withoutBytes = residentBytes(service.pid);
      progress(`creating ${whole(streams)} streams whose receiver never responds`);
      const watched = await watch(service, receivers, { streams, progress, quick });
      const [without, beside] = [writesOf(quietMs), writesOf(watched.timesMs)];
      const late_ms = Math.max(...watched.arrivalsMs);
      const tableRows = [
        ["calls to silent receivers", whole(watched.calls)],
        ["memory without silent receivers, MiB", whole(withoutBytes / MIB)],
        ["peak memory with silent receivers, MiB", whole(watched.bytesMax / MIB)],
        ["events to the fast receiver", whole(watched.arrivalsMs.length)],
        ["a write without silent receivers, ms: median, p99", writesText(without)],
        ["a write with silent receivers, ms: median, p99", writesText(beside)],
      ];
      const goals = [
        judge(LATE, spreadOf([late_ms / 1_000])),
        judge(GROWTH, spreadOf([(watched.bytesMax - withoutBytes) / MIB])),
        judge(MEDIAN, spreadOf([beside.median_ms / without.median_ms])),
        judge(P99, spreadOf([beside.p99_ms / without.p99_ms])),
      ];
      return {
        text: [machineLine(machine), "", table(["", "measured"], tableRows), "", goalTable(goals)].join("\n"),
        data: { machine, streams, without, beside, late_ms, goals },
        goals,
      };
    },
  };
}

/** Writes and seals the events that the silent streams have to deliver, in one log for each stream. */
async function fillLogs(log: Database, streams: number): Promise<void> {
  for (let stream = 0; stream < streams; stream++) {
    await log.run("insert_events", (orm) =>
      rows(
        orm,
        sql`with made as (
            insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
              method, route, params, ip)
            select ${stream}::integer || '-' || n, ${stream}::integer || '-' || n, now(),
              'organization-' || ${stream}::integer, 'jwt', 's', 'GET', '/',
              json_build_object('text', repeat('x', ${EVENT_BYTES}::integer))::jsonb, '::'
            from generate_series(1, ${EVENTS}::integer) n
            returning id, request_id, occurred_at)
          insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`,
      ),
    );
  }
  await sealAll(log);
}

/** Creates the stream whose receiver responds at once, and waits for its first event. */
async function startFast(service: ServiceProcess, receivers: Receivers): Promise<void> {
  let isThere = false;
  receivers.onBatch = () => {
    isThere = true;
  };
  await timedWrite(service, FAST_ORGANIZATION);
  await createStream(service, FAST_ORGANIZATION, receivers.fast);
  await waitFor(() => isThere, { what: "the first event of the fast stream", timeoutMs: ARRIVAL_MS_MAX });
}

interface Watch {
  streams: number;
  quick: boolean;
  progress: Progress;
}

async function watch(service: ServiceProcess, receivers: Receivers, { streams, quick, progress }: Watch) {
  const seen = { calls: 0, fast: 0, bytesMax: 0 };
  receivers.onBatch = ({ receiver, events }) => {
    if (receiver === "silent") seen.calls += 1;
    else seen.fast += events;
  };
  for (let stream = 0; stream < streams; stream++) {
    await createStream(service, `organization-${stream}`, receivers.silent);
  }
  progress("writing with silent receivers");
  const untilMs = performance.now() + (quick ? WATCHED_QUICK_MS : WATCHED_MS);
  const goesOn = () => performance.now() < untilMs;
  const writes = timedWrites(service, 1, goesOn);
  const memory = (async () => {
    while (goesOn()) {
      seen.bytesMax = Math.max(seen.bytesMax, residentBytes(service.pid));
      await Bun.sleep(LOOK_MS);
    }
  })();
  const arrivalsMs: number[] = [];
  while (goesOn()) {
    const before = seen.fast;
    const begunMs = performance.now();
    await timedWrite(service, FAST_ORGANIZATION);
    await waitFor(() => seen.fast > before, {
      what: "an event of the fast stream",
      timeoutMs: ARRIVAL_MS_MAX,
    });
    arrivalsMs.push(performance.now() - begunMs);
  }
  await memory;
  return { ...seen, arrivalsMs, timesMs: await writes };
}
