import { waitFor } from "../../support/time/wait-for.ts";
import type { AuditLog } from "./audit-log.ts";
import { type Answer, type CellRun, isExcused, isGood, type StreamsSeen } from "./cell-run.ts";
import type { Cell } from "./cells.ts";
import { CLIENTS, type Client, KINDS, LIMITS } from "./clients.ts";
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
  /** How long the load runs before the fault. */
  readonly beforeMs: number;
  /** How long the fault lasts. */
  readonly faultMs: number;
  /** How long all clients must be served normally before the cell ends. */
  readonly wellMs: number;
  /** The timeout of the wait for `wellMs`. */
  readonly healMsMax: number;
}

/** The number of single-use keys with which a cell begins. */
const UNSEEN = 80;
/** The number of single-use keys below which clients get more, while no fault is injected. */
const UNSEEN_MIN = 20;
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

/** Creates single-use keys until there are `count`. A slow machine needs more of them, because a cell takes longer. */
async function topUp({ people }: System, { unseen }: Callers, count: number): Promise<void> {
  if (unseen.length < count) unseen.push(...(await people.newKeys(count - unseen.length)));
}

/** A temporary change of the system, such as a fault. */
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
  await wellBefore(bed, callers, pace);
  await topUp(system, callers, UNSEEN);
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
  const times = { beganMs: began.ms, breakingMs, brokenMs, returningMs, returnedMs };
  await waitUntilWell(bed, callers, times, pace);
  const ended = { ms: performance.now(), date: new Date() };
  await Bun.sleep(SAMPLE_MS); // The next sample includes the delay until `ended`.
  const { answers, served } = load.recorder.take();
  const seen = await reached.sinceLast();
  const run = {
    cell,
    ...times,
    endedMs: ended.ms,
    answers: withDelays(
      system,
      delay,
      answers.filter(({ startedMs }) => startedMs >= began.ms),
    ),
    reached: seen,
    served: served.map((each) => ({
      ...each,
      delayMs: delay.between(returnedMs, each.atMs, processesTo(system, each.gateway)),
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
  const repeats = seen.repeats.map(({ atMs }) => ({
    atMs,
    delayMs: delay.between(atMs - LEASE_LOST_MS, atMs, processes),
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

/** Waits until all clients are served normally, judged by the answers that they got in the last `beforeMs`. */
async function wellBefore({ system, load, delay }: Bed, callers: Callers, { beforeMs }: Pace): Promise<void> {
  let unwell: string[] = [];
  const isWell = async () => {
    await topUp(system, callers, UNSEEN_MIN);
    const sinceMs = performance.now() - beforeMs;
    const lately = withDelays(
      system,
      delay,
      load.recorder.answers.filter(({ endedMs }) => endedMs >= sinceMs),
    );
    unwell = CLIENTS.flatMap((client) => unwellOf(client, lately));
    return unwell.length === 0;
  };
  await waitFor(isWell, { timeoutMs: WELL_BEFORE_MS }).catch(() => {
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
    delayMs: delay.between(answer.startedMs, answer.endedMs, processesOf(system, answer)),
  }));
}

/**
 * Returns the names of the processes on a request's path. Includes both replicas of a service if either may
 * have served the request.
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

type Times = Pick<CellRun, "beganMs" | "breakingMs" | "brokenMs" | "returningMs" | "returnedMs">;

async function waitUntilWell(
  { system, load }: Bed,
  callers: Callers,
  times: Times,
  { wellMs, healMsMax }: Pace,
): Promise<void> {
  const { returnedMs } = times;
  const isHealed = async () => {
    await topUp(system, callers, UNSEEN_MIN);
    const nowMs = performance.now();
    const { recorder } = load;
    const answers = recorder.answers
      .filter(({ startedMs }) => startedMs >= returnedMs)
      .map((answer) => ({ ...answer, delayMs: 0 }));
    const cell = { parts: [], fault: "cut" as const };
    const nothing = { cell, reached: [], events: new Map(), streams: null };
    const served = recorder.served.map((each) => ({ ...each, delayMs: 0 }));
    const soFar = { ...nothing, ...times, endedMs: nowMs, answers, served };
    const lastMs = Math.max(...healing(soFar).values());
    return nowMs - returnedMs - lastMs >= wellMs;
  };
  await waitFor(isHealed, { timeoutMs: healMsMax }).catch(() => {}); // The promise `heals` reports the timeout.
  const patienceMs = Math.max(LIMITS.patienceMs, KINDS.publish.limitMs ?? 0) + 5_000;
  await waitFor(() => !load.recorder.awaits(returnedMs), {
    timeoutMs: patienceMs,
    what: "the end of all requests sent before the end of the fault",
  });
}
