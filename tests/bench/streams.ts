import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUSY_ORGANIZATION, generateLog } from "../app/audit/generated-log.ts";
import type { DeliveredBody } from "../app/audit/streams-bed.ts";
import { waitFor } from "../support/wait-for.ts";
import { AuditBed } from "./audit/bed.ts";
import { openLog, sealAll } from "./audit/log.ts";
import { exampleIntent } from "./audit/writers.ts";
import type { Bench } from "./bench.ts";
import { countOf } from "./measure/count.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import type { ServiceProcess } from "./measure/service-bed.ts";
import { percentile, type Spread, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";

const DAY_MS = 86_400_000;
const EVENTS_PER_SECOND_MIN = 2_000;
/** The generated log gives half of its events to the busy organization. */
const SHARE = 2.1;
const DRAIN_MS_MAX = 3_600_000;

/** Returns the measurement of how fast a stream drains a backlog of this many events, and what writers notice of it. */
export function streamsOf(given?: string): Bench {
  return {
    summary: "how fast a stream delivers a backlog, and how long writes take during that: streams [EVENTS]",
    async run({ quick, progress }) {
      const machine = describeMachine();
      const wanted = countOf("streams", "events", given) ?? (quick ? 20_000 : 1_000_000);
      await using bed = new AuditBed([]);
      const { url } = await bed.database();
      await using backlog = await openLog(url, "backlog");
      progress("generating a backlog");
      await generateLog(backlog.log, { events: wanted * SHARE, end_ms: Date.now(), span_ms: 20 * DAY_MS });
      progress("sealing it");
      await sealAll(backlog.log);
      using receiver = startCounting();
      const service = await bed.process("apps/audit/main.ts", {
        DATABASE_URL: backlog.url,
        AUDIT_STREAM_KEY_FILE: keyFile(await bed.directory()),
        AUDIT_STREAM_ALLOW_HTTP: "true",
        AUDIT_STREAM_ALLOWED_NETWORKS: "127.0.0.0/8",
        AUDIT_STREAM_ALLOWED_PORTS: String(receiver.port),
      });
      progress("writing without a stream");
      const before = await writesOf(service, () => false);
      progress("delivering the backlog");
      const drained = await drain(service, receiver);
      return {
        text: [machineLine(machine), "", table(["", "measured", "goal"], rowsOf(before, drained))].join("\n"),
        data: { machine, before, drained },
      };
    },
  };
}

function rowsOf(before: Writes, drained: Awaited<ReturnType<typeof drain>>): string[][] {
  const { writes } = drained;
  return [
    ["entries delivered", whole(drained.entries), ""],
    ["events delivered a second", whole(drained.events_per_second), `above ${EVENTS_PER_SECOND_MIN}`],
    ["entries delivered a second", whole(drained.entries_per_second), ""],
    [
      "a write without a stream, ms: median, p99",
      `${before.median.toFixed(2)}, ${before.p99.toFixed(2)}`,
      "",
    ],
    [
      "a write during the delivery, ms: median, p99",
      `${writes.median.toFixed(2)}, ${writes.p99.toFixed(2)}`,
      "",
    ],
  ];
}

/** A receiver that counts entries and the events among them, and keeps none. */
function startCounting() {
  const counts = { entries: 0, events: 0, position: 0 };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { data }: DeliveredBody = JSON.parse(await request.text());
      counts.entries += data.entries.length;
      for (const { kind } of data.entries) if (kind === "intent") counts.events += 1;
      counts.position = data.entries.at(-1)?.position ?? counts.position;
      return new Response(null);
    },
  });
  return { counts, port: server.port ?? 0, [Symbol.dispose]: () => void server.stop(true) };
}

function keyFile(directory: string): string {
  const path = join(directory, "stream-keys");
  writeFileSync(path, randomBytes(32).toString("base64"), { mode: 0o600 });
  return path;
}

async function drain(service: ServiceProcess, { counts, port }: ReturnType<typeof startCounting>) {
  const path = `${service.url}/organizations/${BUSY_ORGANIZATION}/audit-streams`;
  const begun_ms = performance.now();
  const created = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ url: `http://127.0.0.1:${port}/`, from_position: 1 }),
  });
  const { id, lag_events }: { id: string; lag_events: number } = JSON.parse(await created.text());
  if (created.status !== 201) throw new Error(`The stream was not created: ${created.status}.`);
  let isDone = false;
  const writes = writesOf(service, () => !isDone);
  await waitFor(() => counts.position >= lag_events, {
    what: `${lag_events} entries`,
    timeout_ms: DRAIN_MS_MAX,
  });
  const seconds = (performance.now() - begun_ms) / 1_000;
  isDone = true;
  const measured = await writes;
  await fetch(`${path}/${id}`, { method: "DELETE" });
  return {
    ...counts,
    events_per_second: counts.events / seconds,
    entries_per_second: counts.entries / seconds,
    writes: measured,
  };
}

/** The durations of writes. */
type Writes = Spread & { readonly p99: number };

/** Times writes one after the other: a fixed number at least, and more while `goesOn`. */
async function writesOf({ internal_url }: ServiceProcess, goesOn: () => boolean): Promise<Writes> {
  const times_ms: number[] = [];
  while (times_ms.length < 300 || goesOn()) {
    const begun_ms = performance.now();
    const response = await fetch(`${internal_url}/internal/events/${crypto.randomUUID()}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...exampleIntent, occurred_at: new Date().toISOString() }),
    });
    if (response.status !== 201) throw new Error(`A write was answered ${response.status}.`);
    times_ms.push(performance.now() - begun_ms);
    await Bun.sleep(5);
  }
  return { ...spreadOf(times_ms), p99: percentile(times_ms, 99) };
}
