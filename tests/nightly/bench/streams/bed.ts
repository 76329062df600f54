import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { exampleIntent } from "../../../support/audit/example-intent.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import type { Bed, ServiceProcess } from "../measure/bed.ts";
import { percentile } from "../measure/statistics.ts";
import type { ReceivedBatch, ReceiverPort } from "./receiver.ts";

const WRITE_PAUSE_MS = 5;

/** The receiver that streams deliver to. It runs in a worker. */
export interface Receiver extends ReceiverPort, AsyncDisposable {
  onBatch: (batch: ReceivedBatch) => void;
}

export async function startReceiver(): Promise<Receiver> {
  const worker = new Worker(new URL("./receiver.ts", import.meta.url));
  const listening = Promise.withResolvers<ReceiverPort>();
  worker.on("error", listening.reject);
  let receiver: Receiver | undefined;
  worker.on("message", (message: ReceiverPort | ReceivedBatch) => {
    if (message.kind === "listening") listening.resolve(message);
    else receiver?.onBatch(message);
  });
  receiver = {
    ...(await listening.promise),
    onBatch: () => {},
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  };
  return receiver;
}

/** Starts an audit service that allows streams to the receiver's address. */
export async function startStreaming(
  bed: Bed,
  databaseUrl: string,
  { port }: ReceiverPort,
): Promise<ServiceProcess> {
  const keyFile = join(temporaryFolder("bench"), "stream-keys");
  writeFileSync(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
  return bed.process("apps/audit/main.ts", {
    DATABASE_URL: databaseUrl,
    AUDIT_STREAM_KEY_FILE: keyFile,
    AUDIT_STREAM_ALLOW_HTTP: "true",
    AUDIT_STREAM_ALLOWED_NETWORKS: "127.0.0.0/8",
    AUDIT_STREAM_ALLOWED_PORTS: String(port),
  });
}

interface CreatedStream {
  id: string;
  lag_events: number;
}

/** Creates a stream that delivers an organization's log from its first entry on. */
export async function createStream(
  { url }: ServiceProcess,
  organization_id: string,
  port: number,
): Promise<CreatedStream> {
  const created = await fetch(`${url}/organizations/${organization_id}/audit-streams`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ url: `http://127.0.0.1:${port}/`, from_position: 1 }),
  });
  if (created.status !== 201)
    throw new Error(`The audit service responded to the creation of a stream with ${created.status}.`);
  return JSON.parse(await created.text());
}

/** Writes an intent, and returns the response time in milliseconds. */
async function timedWrite({ internalUrl }: ServiceProcess): Promise<number> {
  const begunMs = performance.now();
  const response = await fetch(`${internalUrl}/internal/events/${crypto.randomUUID()}`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...exampleIntent, occurred_at: new Date().toISOString() }),
  });
  if (response.status !== 201)
    throw new Error(`The audit service responded to a write with ${response.status}.`);
  return performance.now() - begunMs;
}

/** Measures consecutive writes: at least `count`, and more as long as `goesOn` returns true. */
export async function timedWrites(
  service: ServiceProcess,
  count: number,
  goesOn: () => boolean = () => false,
): Promise<number[]> {
  const timesMs: number[] = [];
  while (timesMs.length < count || goesOn()) {
    timesMs.push(await timedWrite(service));
    await Bun.sleep(WRITE_PAUSE_MS);
  }
  return timesMs;
}

export interface Writes {
  median_ms: number;
  p99_ms: number;
}

export function writesOf(timesMs: readonly number[]): Writes {
  return { median_ms: percentile(timesMs, 50), p99_ms: percentile(timesMs, 99) };
}

export function writesText({ median_ms, p99_ms }: Writes): string {
  return `${median_ms.toFixed(2)}, ${p99_ms.toFixed(2)}`;
}
