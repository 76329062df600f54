/** The promises of the product: statements that must hold during every fault. */
import {
  askedTheBroken,
  type CellRun,
  type ClientResponse,
  isConcerned,
  isExcused,
  isGood,
  ownTime,
  secondsInto,
  withinFault,
} from "../cell-run.ts";
import { isAway, isOfClock, type Part } from "../cells.ts";
import { type Client, KINDS, LIMITS } from "../clients.ts";
import { healing } from "./healing.ts";
import { problemsOfWindow, windowsOf } from "./limits.ts";

interface Promised {
  readonly name: string;
  readonly title: string;
  /** Whether the promise is about durations, which are not reliable on a busy machine. */
  readonly timed?: boolean;
  /**
   * Returns a description of each violation in a run. Returns null if the promise does not apply to the run's
   * fault and parts.
   */
  judge(run: CellRun): readonly string[] | null;
}

/** The tolerance for network transfer and measurement, in addition to the gateway's own timeouts. */
const WAY_MS = 150;
const HEALED_MS = 5_000;

/** All promises, in the order of the results. Every cell is checked against all of them. */
export const PROMISES: readonly Promised[] = [
  {
    name: "admission",
    title: "No invalid credential is admitted, and no caller reaches another owner's data.",
    judge: wrongAdmissions,
  },
  {
    name: "limits",
    title: "Limits are exact over all gateways while Redis is up.",
    judge: (run) => windowsOf(run).flatMap((window) => problemsOfWindow(run, window)),
  },
  ...refusedWithout(["redis"], "limited", LIMITS.uncountedMs, {
    names: ["no-fallback", "uncounted"],
    title: "Without Redis, no gateway counts locally: every limited request is refused.",
    soon: "Without Redis, limited requests get 503",
  }),
  goesOn("without-redis", "Without Redis, public and unlimited routes work.", ["redis"]),
  goesOn("without-etcd", "Without etcd or the registry, published routes work.", [
    "etcd",
    "registry",
    "registries",
  ]),
  goesOn("without-identity", "Without identity, cached credentials work.", ["identity"]),
  goesOn("without-postgres", "Without PostgreSQL, cached credentials work on unaudited routes.", [
    "postgres",
  ]),
  goesOn("without-audit", "Without audit, unaudited routes work.", ["audit"]),
  goesOn("without-service", "Without a service, publishing works, and invalid credentials are refused.", [
    "upstream",
  ]),
  goesOn("without-gateway", "Without one gateway, the other one works.", ["gateway"]),
  ...refusedWithout(["audit", "postgres"], "audited", LIMITS.unrecordedMs, {
    names: ["fails-closed", "unrecorded"],
    title: "Without audit, audited requests are refused.",
    soon: "Without audit, audited requests get 503",
  }),
  {
    name: "events",
    title: "Every audited request that reached a service has an event.",
    judge: ({ reached, events }) =>
      reached
        .filter(({ client, request_id }) => client === "audited" && !events.has(request_id))
        .map(({ request_id }) => `no event for the request ${request_id}`),
  },
  {
    name: "outcomes",
    title:
      "The event of every request that reached a service gets its outcome, unless its gateway is killed.",
    judge({ cell, reached, events }) {
      if (cell.parts.includes("gateway") && cell.fault === "killed") return null;
      return reached
        .filter(({ request_id }) => events.get(request_id) === "pending")
        .map(({ request_id }) => `the event of the request ${request_id} has no outcome`);
    },
  },
  {
    name: "streams",
    title:
      "Audit streams deliver every entry in order, and repeat entries only after a fault of audit or PostgreSQL.",
    judge: lossesOfStreams,
  },
  {
    name: "heals",
    title: `Within ${HEALED_MS / 1000} s after a fault, all clients are served normally again.`,
    timed: true,
    judge: (run) =>
      [...healing(run)]
        .filter(([, ms]) => ms > HEALED_MS)
        .map(([client, ms]) => {
          const who = client === "routes" ? "new routes" : KINDS[client].title;
          return `${who}: ${Number.isFinite(ms) ? `after ${Math.round(ms)} ms` : "not at all"}`;
        }),
  },
  {
    name: "hangs",
    title: "No request takes longer than the timeouts of the parts that it needs.",
    timed: true,
    judge: (run) =>
      run.responses
        .filter((response) => !askedTheBroken(run.cell, response))
        .filter((response) => ownTime(response) > KINDS[response.client].limitMs + WAY_MS)
        .map((response) => `${KINDS[response.client].title}: ${lateText(run, response)}`),
  },
  {
    name: "slowness",
    title: "No request fails when a part is slow, but faster than all timeouts.",
    timed: true,
    judge: (run) => (run.cell.fault === "slowed" ? failures(run, () => true) : null),
  },
  {
    name: "clocks",
    title: "No request fails when a clock jumps an hour ahead or back.",
    judge: (run) => (isOfClock(run.cell) ? failures(run, () => true) : null),
  },
];

export interface Judgement {
  readonly promise: string;
  /** A description of each violation; empty if the promise was kept. */
  readonly broken: readonly string[];
}

/** Checks each promise that applies to the run. `timed` includes the promises about durations. */
export function judge(run: CellRun, { timed }: { timed: boolean }): Judgement[] {
  return PROMISES.filter((promise) => timed || !promise.timed).flatMap((promise) => {
    const broken = promise.judge(run);
    return broken === null ? [] : [{ promise: promise.name, broken }];
  });
}

/**
 * Describes the requests that failed after the injection of the fault began, although they need no failed
 * part.
 */
export function disturbed(run: CellRun): string[] {
  return failures(
    run,
    (response) => response.startedMs >= run.breakingMs && !isConcerned(run.cell, response),
  );
}

function failures(run: CellRun, counts: (response: ClientResponse) => boolean): string[] {
  return run.responses
    .filter((response) => counts(response) && !isGood(response) && !isExcused(response))
    .map(
      ({ client, status, startedMs }) =>
        `${KINDS[client].title}: ${status ?? "no response"} ${secondsInto(run, startedMs)}`,
    );
}

/** Returns a promise: a fault of `parts` does not affect clients that need none of the failed parts. */
function goesOn(name: string, title: string, parts: readonly Part[]): Promised {
  return {
    name,
    title,
    judge: (run) => (run.cell.parts.some((part) => parts.includes(part)) ? disturbed(run) : null),
  };
}

/** Returns two promises: while one of `parts` is away, each request of a client gets 503, and within `limitMs`. */
function refusedWithout(
  parts: readonly Part[],
  client: Client,
  limitMs: number,
  {
    names: [refused, soon],
    title,
    soon: titleOfSoon,
  }: { names: [string, string]; title: string; soon: string },
): Promised[] {
  const asked = (run: CellRun) =>
    run.cell.parts.some((part) => parts.includes(part)) && isAway(run.cell)
      ? withinFault(run).filter(
          (response) => response.client === client && !askedTheBroken(run.cell, response),
        )
      : null;
  return [
    {
      name: refused,
      title,
      judge: (run) =>
        asked(run)
          ?.filter(({ status }) => status !== 503)
          .filter((response) => response.status !== null || !isExcused(response))
          .map(
            ({ status, startedMs }) => `a request (${client}) got ${status} ${secondsInto(run, startedMs)}`,
          ) ?? null,
    },
    {
      name: soon,
      title: `${titleOfSoon} within ${limitMs} ms.`,
      timed: true,
      judge: (run) =>
        asked(run)
          ?.filter((response) => ownTime(response) > limitMs)
          .map((response) => lateText(run, response)) ?? null,
    },
  ];
}

function lateText(run: CellRun, response: ClientResponse): string {
  const ms = Math.round(ownTime(response));
  return `${response.status ?? "no response"} after ${ms} ms ${secondsInto(run, response.startedMs)}`;
}

function wrongAdmissions(run: CellRun): string[] {
  const admitted = run.responses
    .filter(({ client, status }) => client === "refused" && status !== null && status < 300)
    .map(({ status, startedMs }) => `an invalid credential got ${status} ${secondsInto(run, startedMs)}`);
  const reached = run.reached
    .filter(({ client }) => client === "refused")
    .map(({ request_id }) => `a request with an invalid credential reached the service: ${request_id}`);
  const foreign = run.reached
    .filter(({ owner, caller }) => owner !== caller)
    .map(({ request_id, owner, caller }) => `${caller} reached data of ${owner}: ${request_id}`);
  return [...admitted, ...reached, ...foreign];
}

function lossesOfStreams(run: CellRun): string[] | null {
  const { streams, cell, breakingMs } = run;
  if (streams === null) return null;
  // A fault may have prevented audit from storing that a receiver accepted a delivery.
  const mayRepeat = cell.parts.some((part) => part === "audit" || part === "postgres");
  const repeated = streams.repeatsMs
    .filter((ms) => !mayRepeat || ms < breakingMs)
    .map((ms) => `entries were delivered again ${secondsInto(run, ms)}`);
  const missing = streams.missing.map((what) => `missing: ${what}`);
  return [...streams.problems, ...missing, ...repeated];
}
