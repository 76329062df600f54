import type { BenchOptions } from "../bench.ts";
import { strangers } from "../gateway/identity.ts";
import { type JudgedGoal, judge } from "../measure/goal-table.ts";
import { inRounds, valuesOf, type Way } from "../measure/rounds.ts";
import { ratiosOf } from "../measure/statistics.ts";
import { CONNECTIONS, type Target } from "../measure/wrk.ts";
import { SPENT_PATH } from "./catalog.ts";
import type { Plan } from "./measure.ts";

/** Returns the requests with all features, and then those that a gateway refuses, each with its status. */
function waysOf(forwarded: Target): Way[] {
  const { headers, paths } = forwarded;
  const withKey = (key: string) => ({ headers: { ...headers, "X-API-Key": key } });
  const way = (title: string, target: Target): Way => ({ title, connections: CONNECTIONS, target });
  const refused = (status: number, change: Partial<Target>) =>
    way(`refused with ${status}`, { ...forwarded, isRefused: true, ...change });
  return [
    way("all features", forwarded),
    refused(401, withKey(strangers.unknown)),
    refused(403, withKey(strangers.unlabelled)),
    refused(404, { paths: paths.map((path) => `${path}/more`) }),
    refused(429, { paths: [SPENT_PATH] }),
  ];
}

/** Judges how much faster the gateway refuses a request than it forwards one with all features. */
export async function refusalGoals(
  forwarded: Target,
  plan: Plan,
  options: BenchOptions,
): Promise<JudgedGoal[]> {
  await fetch(forwarded.url + SPENT_PATH, { headers: forwarded.headers });
  const [whole, ...refused] = await inRounds(waysOf(forwarded), plan, options);
  const full = whole === undefined ? [] : valuesOf(whole, "requests_per_second");
  return refused.map((way) =>
    judge(
      { title: `${way.title} / all features, 64 clients`, bound: 1.3 },
      ratiosOf(valuesOf(way, "requests_per_second"), full),
    ),
  );
}
