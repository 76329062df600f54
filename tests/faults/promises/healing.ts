import { CLIENTS, type Client, KINDS } from "../clients.ts";
import { type CellRun, isExcused, isGood } from "../record.ts";
import type { Promised } from "./promise.ts";

const HEALED_MS = 5_000;
const GATEWAYS = 2;

/**
 * Returns the time from the part's return until each kind of client was well; `Infinity` when that took too
 * long.
 */
export function healing(run: CellRun): ReadonlyMap<Client | "routes", number> {
  const times = CLIENTS.map((client) => [client, healingOf(run, client)] as const);
  return new Map<Client | "routes", number>([...times, ["routes", healingOfRoutes(run)]]);
}

/** Returns the time from the part's return to the start of the last request that failed. */
function healingOf(run: CellRun, client: Client): number {
  const later = run.answers.filter(
    (answer) => answer.client === client && answer.started_ms >= run.returned_ms,
  );
  const bad = later.filter((answer) => !isGood(answer) && !isExcused(answer));
  const lastBad = Math.max(run.returned_ms, ...bad.map(({ started_ms }) => started_ms));
  const isWell = later.some((answer) => isGood(answer) && answer.started_ms >= lastBad);
  return isWell ? lastBad - run.returned_ms : Number.POSITIVE_INFINITY;
}

/** Returns the time from the part's return until every gateway serves what was published since. */
function healingOfRoutes({ served, returned_ms }: CellRun): number {
  const firsts = Array.from({ length: GATEWAYS }, (_, gateway) =>
    Math.min(
      ...served
        .filter((each) => each.gateway === gateway && each.published_ms >= returned_ms)
        .map(({ at_ms, delay_ms }) => Math.max(returned_ms, at_ms - delay_ms)),
    ),
  );
  return Math.max(...firsts) - returned_ms;
}

export const everythingHeals: Promised = {
  name: "heals",
  title: `Within ${HEALED_MS / 1000} s of each part's return all is well again.`,
  timed: true,
  judge: (run) =>
    [...healing(run)]
      .filter(([, ms]) => ms > HEALED_MS)
      .map(([client, ms]) => {
        const who = client === "routes" ? "new routes" : KINDS[client].title;
        return `${who}: ${Number.isFinite(ms) ? `after ${Math.round(ms)} ms` : "not at all"}`;
      }),
};
