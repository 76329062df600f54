import { BUSY_ORGANIZATION, generateLog } from "../../support/audit/generated-log.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { openLog, sealAll } from "./audit/log.ts";
import type { Bench } from "./bench.ts";
import { Bed, type ServiceProcess } from "./measure/bed.ts";
import { type Goal, judge } from "./measure/goal-table.ts";
import { spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import {
  createStream,
  type Receiver,
  startReceiver,
  startStreaming,
  timedWrites,
  writesOf,
  writesText,
} from "./streams/bed.ts";

const DAY_MS = 86_400_000;
/**
 * The number of events to generate for each event of the busy organization. This organization owns about half
 * of a generated log.
 */
const SHARE = 2.1;
const DRAIN_MS_MAX = 3_600_000;

const EVENTS: Goal = { title: "events delivered a second", bound: 2_000 };
const MEDIAN: Goal = {
  title: "median of a write, during the delivery / without",
  bound: 1.25,
  at_most: true,
};
const P99: Goal = { title: "p99 of a write, during the delivery / without", bound: 1.25, at_most: true };

/** Measures how fast a stream delivers a backlog, and how much slower writes are during the delivery. */
export const streams: Bench = {
  summary: "how fast a stream delivers a backlog, and how long writes take during the delivery",
  async run({ quick, progress }) {
    const wanted = quick ? 20_000 : 1_000_000;
    const writes = quick ? 300 : 1_500;
    await using bed = new Bed([]);
    const { url } = await bed.database();
    await using backlog = await openLog(url, "backlog");
    progress("generating a backlog");
    await generateLog(backlog.log, { events: wanted * SHARE, endMs: Date.now(), spanMs: 20 * DAY_MS });
    progress("sealing the backlog");
    await sealAll(backlog.log);
    await using receiver = await startReceiver();
    const service = await startStreaming(bed, backlog.url, receiver);
    progress("writing without a stream");
    await timedWrites(service, 300);
    const before = await timedWrites(service, writes);
    progress("delivering the backlog");
    const drained = await drain(service, receiver);
    progress("writing without a backlog");
    const after = await timedWrites(service, writes);
    const [without, beside] = [writesOf([...before, ...after]), writesOf(drained.timesMs)];
    const rows = [
      ["entries delivered", whole(drained.entries)],
      ["entries delivered a second", whole(drained.entries / drained.seconds)],
      ["a write without a backlog, ms: median, p99", writesText(without)],
      ["a write during the delivery, ms: median, p99", writesText(beside)],
    ];
    const goals = [
      judge(EVENTS, spreadOf([drained.events / drained.seconds])),
      judge(MEDIAN, spreadOf([beside.median_ms / without.median_ms])),
      judge(P99, spreadOf([beside.p99_ms / without.p99_ms])),
    ];
    return {
      parts: [table(["", "measured"], rows)],
      data: { without, beside, drained: { ...drained, timesMs: undefined } },
      goals,
    };
  },
};

async function drain(service: ServiceProcess, receiver: Receiver) {
  const counts = { entries: 0, events: 0, position: 0 };
  receiver.onBatch = ({ first, last, events }) => {
    counts.entries += last - first + 1;
    counts.events += events;
    counts.position = last;
  };
  const begunMs = performance.now();
  const { lag_events } = await createStream(service, BUSY_ORGANIZATION, receiver.port);
  let isDone = false;
  const writes = timedWrites(service, 0, () => !isDone);
  await waitFor(() => counts.position >= lag_events, {
    what: `${lag_events} entries`,
    timeoutMs: DRAIN_MS_MAX,
  });
  const seconds = (performance.now() - begunMs) / 1_000;
  isDone = true;
  return { ...counts, seconds, timesMs: await writes };
}
