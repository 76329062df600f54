import { type CellRun, isExcused, isGood } from "../cell-run.ts";
import { CLIENTS, type Client } from "../clients.ts";

const GATEWAYS = 2;

/** The part of a run that shows when clients were served normally again. */
type Healing = Pick<CellRun, "responses" | "served" | "returnedMs">;

/**
 * Returns, for each kind of client and for `routes`, the time from the end of the fault until recovery. The
 * time is `Infinity` if the run ended before recovery.
 */
export function healing(run: Healing): ReadonlyMap<Client | "routes", number> {
  const times = CLIENTS.map((client) => [client, healingOf(run, client)] as const);
  return new Map<Client | "routes", number>([...times, ["routes", healingOfRoutes(run)]]);
}

/**
 * Returns the time from the end of the fault to the start of the client's last failed request. Returns 0 if
 * no request failed, and `Infinity` if no request has succeeded since then.
 */
function healingOf(run: Healing, client: Client): number {
  const later = run.responses.filter(
    (response) => response.client === client && response.startedMs >= run.returnedMs,
  );
  const bad = later.filter((response) => !isGood(response) && !isExcused(response));
  const lastBad = Math.max(run.returnedMs, ...bad.map(({ startedMs }) => startedMs));
  const isWell = later.some((response) => isGood(response) && response.startedMs >= lastBad);
  return isWell ? lastBad - run.returnedMs : Number.POSITIVE_INFINITY;
}

/**
 * Returns the time from the end of the fault until every gateway serves a version that was published after
 * the fault.
 */
function healingOfRoutes({ served, returnedMs }: Healing): number {
  const firsts = Array.from({ length: GATEWAYS }, (_, gateway) =>
    Math.min(
      ...served
        .filter((each) => each.gateway === gateway && each.publishedMs >= returnedMs)
        .map(({ atMs }) => atMs),
    ),
  );
  return Math.max(...firsts) - returnedMs;
}
