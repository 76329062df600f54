import { type CellRun, isConcerned, isExcused, isGood } from "../cell-run.ts";
import type { Part } from "../cells.ts";
import { KINDS } from "../clients.ts";
import { at, type Promised } from "./promise.ts";

/**
 * Returns the check of a promise: a fault of `parts` does not affect clients that need none of the failed
 * parts.
 */
function goesOn(name: string, title: string, parts: readonly Part[]): Promised {
  return {
    name,
    title,
    timed: false,
    judge: (run) => (run.cell.parts.some((part) => parts.includes(part)) ? disturbed(run) : null),
  };
}

/**
 * Describes the requests that failed after the injection of the fault began, although they need no failed
 * part.
 */
export function disturbed(run: CellRun): string[] {
  return run.answers
    .filter(({ startedMs }) => startedMs >= run.breakingMs)
    .filter((answer) => !isConcerned(run.cell, answer) && !isGood(answer) && !isExcused(answer))
    .map(({ client, status, startedMs }) => {
      return `${KINDS[client].title}: ${status ?? "no answer"} ${at(run, startedMs)}`;
    });
}

export const goesOnWithout: readonly Promised[] = [
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
];
