import { waitFor } from "../../support/time/wait-for.ts";
import type { AuditLog } from "./audit-log.ts";
import { type CellRun, type ClientResponse, isExcused, isGood, type StreamsSeen } from "./cell-run.ts";
import type { Cell } from "./cells.ts";
import { CLIENTS, KINDS, LIMITS } from "./clients.ts";
import { endFault, injectFault } from "./inject-faults.ts";
import type { Load } from "./load/load.ts";
import type { Seen } from "./load/recorder.ts";
import type { StreamReceiver } from "./load/stream-receiver.ts";
import { healing } from "./promises/healing.ts";
import type { ReachedRequests } from "./reached-requests.ts";
import { CLIENTS_PROCESS, type SchedulingDelay } from "./scheduling-delay.ts";
import type { Callers } from "./system/people.ts";
import type { System } from "./system/system.ts";

/** The test bed of a cell: the system, the load, and the readers that collect what happened. */
export interface Bed {
  readonly system: System;
  readonly load: Load;
  readonly delay: SchedulingDelay;
  readonly reached: ReachedRequests;
  readonly log: AuditLog;
  /** The receiver of audit streams; null if the run has no audit streams. */
  readonly streams: StreamReceiver | null;
}

export interface Pace {
  readonly beforeMs: number;
  readonly faultMs: number;
  /** How long all clients must be served normally before the cell ends. */
  readonly wellMs: number;
  readonly healMsMax: number;
}

/** The number of single-use keys of a cell, enough for the slowest one. */
const UNSEEN = 300;
const WELL_BEFORE_MS = 30_000;
/**
 * How far before the start of a cell to read audit events. A request that reaches the service during the cell
 * may have started earlier.
 */
const EVENTS_BEFORE_MS = 30_000;
const SAMPLE_MS = 120;

export function newCallers(system: System): Promise<Callers> {
  return system.people.callers(UNSEEN);
}

export interface Change {
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

/** Injects and repairs the cell's fault under load, and returns everything that was recorded. */
export function runCell(bed: Bed, cell: Cell, pace: Pace): Promise<CellRun> {
  const { system } = bed;
  const change = { begin: () => injectFault(system, cell), end: () => endFault(system, cell) };
  return runChange(bed, cell, change, pace);
}

/**
 * Runs `change` under load, and returns everything that was recorded. `cell` says which parts the change
 * breaks.
 */
export async function runChange(bed: Bed, cell: Cell, change: Change, pace: Pace): Promise<CellRun> {
  const { system, load, delay, reached, log, streams } = bed;
  const callers = await newCallers(system);
  await load.introduce(callers);
  await system.people.retire(load.use(callers));
  await wellBefore(bed, pace);
  load.recorder.take();
  await reached.sinceLast();
  streams?.forget();
  const began = { ms: performance.now(), date: new Date() };
  await Bun.sleep(pace.beforeMs);
  const breakingMs = performance.now();
  await change.begin();
  const brokenMs = performance.now();
  await Bun.sleep(pace.faultMs);
  const returningMs = performance.now();
  await change.end();
  const returnedMs = performance.now();
  await waitUntilWell(bed, returnedMs, pace);
  const ended = { ms: performance.now(), date: new Date() };
  await Bun.sleep(SAMPLE_MS); // The next sample includes the delay until `ended`.
  const { responses, served } = load.recorder.take();
  const run = {
    cell,
    beganMs: began.ms,
    breakingMs,
    brokenMs,
    returningMs,
    returnedMs,
    endedMs: ended.ms,
    responses: withDelays(
      bed,
      responses.filter(({ startedMs }) => startedMs >= began.ms),
    ),
    reached: await reached.sinceLast(),
    served,
    events: await log.since(new Date(began.date.getTime() - EVENTS_BEFORE_MS), ended.date),
    streams: streams === null ? null : await streamsSeen(log, streams),
  };
  delay.forget(began.ms);
  return run;
}

/** Waits until all sealed entries are delivered, and returns what the receiver of audit streams recorded. */
async function streamsSeen(log: AuditLog, streams: StreamReceiver): Promise<StreamsSeen> {
  return streams.upTo(await log.heads());
}

/**
 * Waits until all clients are served normally, judged by the responses of the last `beforeMs`. If they are
 * not in time, the cell begins anyway, and its promises show why.
 */
async function wellBefore(bed: Bed, { beforeMs }: Pace): Promise<void> {
  const isWell = () => {
    const sinceMs = performance.now() - beforeMs;
    const lately = withDelays(
      bed,
      bed.load.recorder.responses.filter(({ endedMs }) => endedMs >= sinceMs),
    );
    return CLIENTS.every((client) => {
      const responses = lately.filter((response) => response.client === client);
      return responses.length > 0 && responses.every((response) => isGood(response) || isExcused(response));
    });
  };
  await waitFor(isWell, { timeoutMs: WELL_BEFORE_MS }).catch(() => {});
}

function withDelays({ system, delay }: Bed, responses: readonly Seen[]): ClientResponse[] {
  return responses.map((response) => ({
    ...response,
    delayMs: delay.between(response.startedMs, response.endedMs, processesOf(system, response)),
  }));
}

/**
 * Returns the names of the processes on a request's path. Includes both replicas of a service if either may
 * have served the request.
 */
function processesOf(
  system: System,
  { client, replica }: Pick<ClientResponse, "client" | "replica">,
): string[] {
  const first = client === "publish" ? system.registries[replica] : system.gateways[replica];
  const behind = KINDS[client].needs.flatMap((part) => {
    if (part === "identity" || part === "audit") return system[part].map(({ name }) => name);
    return part === "registries" ? [] : [part];
  });
  return [CLIENTS_PROCESS, ...(first === undefined ? [] : [first.name]), ...behind];
}

/** Waits until all clients have been served normally for `wellMs`, and until no earlier request is under way. */
async function waitUntilWell(
  { load: { recorder } }: Bed,
  returnedMs: number,
  { wellMs, healMsMax }: Pace,
): Promise<void> {
  const isHealed = () => {
    const responses = recorder.responses.map((response) => ({ ...response, delayMs: 0 }));
    const lastMs = Math.max(...healing({ responses, served: recorder.served, returnedMs }).values());
    return performance.now() - returnedMs - lastMs >= wellMs;
  };
  await waitFor(isHealed, { timeoutMs: healMsMax }).catch(() => {}); // The promise `heals` reports the timeout.
  const patienceMs = Math.max(LIMITS.patienceMs, KINDS.publish.limitMs) + 5_000;
  await waitFor(() => !recorder.awaits(returnedMs), {
    timeoutMs: patienceMs,
    what: "the end of all requests sent before the end of the fault",
  });
}
