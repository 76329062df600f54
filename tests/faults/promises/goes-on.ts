import type { Part } from "../cells.ts";
import { KINDS } from "../clients.ts";
import { type CellRun, isConcerned, isExcused, isGood } from "../record.ts";
import { at, type Promised } from "./promise.ts";

/** Clients that do not need a failed part notice nothing, from before the fault to after it. */
function goesOn(name: string, title: string, parts: readonly Part[]): Promised {
  return {
    name,
    title,
    timed: false,
    judge: (run) => (run.cell.parts.some((part) => parts.includes(part)) ? disturbed(run) : null),
  };
}

/** Returns the requests that failed since the fault began although they need no failed part. */
export function disturbed(run: CellRun): string[] {
  return run.answers
    .filter(({ started_ms }) => started_ms >= run.breaking_ms)
    .filter((answer) => !isConcerned(run.cell, answer) && !isGood(answer) && !isExcused(answer))
    .map(({ client, status, started_ms }) => {
      return `${KINDS[client].title}: ${status ?? "no answer"} ${at(run, started_ms)}`;
    });
}

export const goesOnWithout: readonly Promised[] = [
  goesOn("without-redis", "Without Redis public and unlimited routes go on.", ["redis"]),
  goesOn("without-etcd", "Without etcd and the registry routes go on.", ["etcd", "registry", "registries"]),
  goesOn("without-identity", "Without identity cached credentials go on.", ["identity"]),
  goesOn("without-postgres", "Without PostgreSQL cached credentials go on where nothing is audited.", [
    "postgres",
  ]),
  goesOn("without-audit", "Without audit everything goes on that is not audited.", ["audit"]),
  goesOn("without-service", "Without a service, publishing and refusing go on.", ["upstream"]),
  goesOn("without-gateway", "Without one gateway the other goes on.", ["gateway"]),
];
