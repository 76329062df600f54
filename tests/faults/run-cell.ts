import { waitFor } from "../support/wait-for.ts";
import { breakParts, mendParts } from "./break.ts";
import type { Cell } from "./cells.ts";
import { CLIENTS, type Client, KINDS, LIMITS } from "./clients.ts";
import type { AuditLog } from "./events.ts";
import type { Load } from "./load/load.ts";
import type { Seen } from "./load/recorder.ts";
import type { StreamReceiver } from "./load/stream-receiver.ts";
import { healing } from "./promises/healing.ts";
import type { ReachedRequests } from "./reached.ts";
import { type Answer, type CellRun, isExcused, isGood, type StreamsSeen } from "./record.ts";
import { CLIENTS_PROCESS, type SchedulingDelay } from "./scheduling-delay.ts";
import type { Callers } from "./system/people.ts";
import type { System } from "./system/system.ts";

/** The test bed of a cell: the system, the load, and the readers of what happened. */
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
  /** How long the load runs before the fault. */
  readonly before_ms: number;
  /** How long the fault lasts. */
  readonly fault_ms: number;
  /** How long all clients must be served normally before the cell ends. */
  readonly well_ms: number;
  /** The timeout of the wait for `well_ms`. */
  readonly heal_ms_max: number;
}

/**
 * The number of single-use keys that are created before the fault of a cell: as many as a cell needs at most.
 */
const UNSEEN = 80;
const WELL_BEFORE_MS = 30_000;
/**
 * How far before the start of a cell to read audit events. A request that reaches the service during the cell
 * may have started earlier.
 */
const EVENTS_BEFORE_MS = 30_000;
const SAMPLE_MS = 120;
/** The time before a repeated delivery in which waits for CPU time may have cost a replica its lease. */
const LEASE_LOST_MS = 15_000;

export function newCallers(system: System): Promise<Callers> {
  return system.people.callers(UNSEEN);
}

/** A temporary change of the system, such as a fault. */
export interface Change {
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

/** Injects and repairs the cell's fault under load, and returns everything that was recorded. */
export function runCell(bed: Bed, cell: Cell, pace: Pace): Promise<CellRun> {
  const { system } = bed;
  const change = { begin: () => breakParts(system, cell), end: () => mendParts(system, cell) };
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
  await Bun.sleep(pace.before_ms);
  const breaking_ms = performance.now();
  await change.begin();
  const broken_ms = performance.now();
  await Bun.sleep(pace.fault_ms);
  const returning_ms = performance.now();
  await change.end();
  const returned_ms = performance.now();
  const times = { began_ms: began.ms, breaking_ms, broken_ms, returning_ms, returned_ms };
  await waitUntilWell(load, times, pace);
  const ended = { ms: performance.now(), date: new Date() };
  await Bun.sleep(SAMPLE_MS); // The next sample includes the delay until `ended`.
  const { answers, served } = load.recorder.take();
  const seen = await reached.sinceLast();
  const run = {
    cell,
    ...times,
    ended_ms: ended.ms,
    answers: withDelays(
      system,
      delay,
      answers.filter(({ started_ms }) => started_ms >= began.ms),
    ),
    reached: seen,
    served: served.map((each) => ({
      ...each,
      delay_ms: delay.between(returned_ms, each.at_ms, processesTo(system, each.gateway)),
    })),
    events: await log.since(new Date(began.date.getTime() - EVENTS_BEFORE_MS), ended.date),
    streams: streams === null ? null : await streamsSeen(bed, streams),
  };
  delay.forget(began.ms);
  return run;
}

/** Waits until all sealed entries are delivered, and returns what the receiver of audit streams recorded. */
async function streamsSeen({ system, delay, log }: Bed, streams: StreamReceiver): Promise<StreamsSeen> {
  const seen = await streams.upTo(await log.heads());
  await Bun.sleep(SAMPLE_MS);
  const processes = [CLIENTS_PROCESS, "postgres", ...system.audit.map(({ name }) => name)];
  const repeats = seen.repeats.map(({ at_ms }) => ({
    at_ms,
    delay_ms: delay.between(at_ms - LEASE_LOST_MS, at_ms, processes),
  }));
  return { ...seen, repeats };
}

/**
 * The error for a cell that cannot start, because clients are not yet served normally after the previous
 * fault.
 */
export class NotWell extends Error {
  constructor(who: readonly string[]) {
    super(`clients that were not served normally before the fault: ${who.join(", ")}`);
    this.name = "NotWell";
  }
}

async function wellBefore({ system, load, delay }: Bed, { before_ms }: Pace): Promise<void> {
  let unwell: string[] = [];
  const isWell = () => {
    const since_ms = performance.now() - before_ms;
    const lately = withDelays(
      system,
      delay,
      load.recorder.answers.filter(({ started_ms }) => started_ms >= since_ms),
    );
    unwell = CLIENTS.flatMap((client) => unwellOf(client, lately));
    return unwell.length === 0;
  };
  await waitFor(isWell, { timeout_ms: WELL_BEFORE_MS }).catch(() => {
    throw new NotWell(unwell);
  });
}

/**
 * Returns the client's title with the statuses of its failed requests. Empty if the client is served
 * normally.
 */
function unwellOf(client: Client, lately: readonly Answer[]): string[] {
  const of = lately.filter((answer) => answer.client === client);
  const bad = of.filter((answer) => !isGood(answer) && !isExcused(answer));
  if (of.length > 0 && bad.length === 0) return [];
  const statuses = new Set(bad.map(({ status }) => status ?? "no answer"));
  return [`${KINDS[client].title} (${[...statuses].join(", ") || "no requests"})`];
}

function withDelays(system: System, delay: SchedulingDelay, answers: readonly Seen[]): Answer[] {
  return answers.map((answer) => ({
    ...answer,
    delay_ms: delay.between(answer.started_ms, answer.ended_ms, processesOf(system, answer)),
  }));
}

/**
 * Returns the names of the processes on a request's path. Includes both replicas where either may have served
 * it.
 */
function processesOf(system: System, { client, replica }: Pick<Answer, "client" | "replica">): string[] {
  const first = client === "publish" ? system.registries[replica] : system.gateways[replica];
  const behind = KINDS[client].needs.flatMap((part) => {
    if (part === "identity" || part === "audit") return system[part].map(({ name }) => name);
    return part === "registries" ? [] : [part];
  });
  return [CLIENTS_PROCESS, ...(first === undefined ? [] : [first.name]), ...behind];
}

/** Returns the names of the processes on the path of a published service to a gateway. */
function processesTo({ registries, gateways }: System, gateway: number): string[] {
  const own = gateways[gateway]?.name;
  return [CLIENTS_PROCESS, ...registries.map(({ name }) => name), "postgres", "etcd", ...(own ? [own] : [])];
}

type Times = Pick<CellRun, "began_ms" | "breaking_ms" | "broken_ms" | "returning_ms" | "returned_ms">;

async function waitUntilWell(load: Load, times: Times, { well_ms, heal_ms_max }: Pace): Promise<void> {
  const { returned_ms } = times;
  const isHealed = () => {
    const nowMs = performance.now();
    const { recorder } = load;
    const answers = recorder.answers
      .filter(({ started_ms }) => started_ms >= returned_ms)
      .map((answer) => ({ ...answer, delay_ms: 0 }));
    const cell = { parts: [], fault: "cut" as const };
    const nothing = { cell, reached: [], events: new Map(), streams: null };
    const served = recorder.served.map((each) => ({ ...each, delay_ms: 0 }));
    const soFar = { ...nothing, ...times, ended_ms: nowMs, answers, served };
    const last_ms = Math.max(...healing(soFar).values());
    return nowMs - returned_ms - last_ms >= well_ms;
  };
  await waitFor(isHealed, { timeout_ms: heal_ms_max }).catch(() => {}); // The promise `heals` reports the timeout.
  const patience_ms = Math.max(LIMITS.patience_ms, KINDS.publish.limit_ms ?? 0) + 5_000;
  await waitFor(() => !load.recorder.awaits(returned_ms), {
    timeout_ms: patience_ms,
    what: "The end of all requests sent before the end of the fault",
  });
}
