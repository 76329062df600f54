import type { BenchOptions } from "../bench.ts";
import { strangers } from "../gateway/identity.ts";
import { type JudgedGoal, judge } from "../measure/goal-table.ts";
import { ratiosOf } from "../measure/statistics.ts";
import { CONNECTIONS, load, type Target } from "../measure/wrk.ts";
import { SPENT_PATH } from "./catalog.ts";
import type { Plan } from "./measure.ts";

/** The requests that a gateway refuses, by their status. All others of the target are forwarded. */
function refusedOf(forwarded: Target): readonly (Target & { readonly status: number })[] {
  const { headers, paths } = forwarded;
  const withKey = (key: string) => ({ ...headers, "X-API-Key": key });
  return [
    { ...forwarded, status: 401, isRefused: true, headers: withKey(strangers.unknown) },
    { ...forwarded, status: 403, isRefused: true, headers: withKey(strangers.unlabelled) },
    { ...forwarded, status: 404, isRefused: true, paths: paths.map((path) => `${path}/more`) },
    { ...forwarded, status: 429, isRefused: true, paths: [SPENT_PATH] },
  ];
}

/** Judges how much faster the gateway refuses a request than it forwards one of the whole job. */
export async function refusalGoals(
  forwarded: Target,
  { rounds, seconds }: Plan,
  { progress }: Pick<BenchOptions, "progress">,
): Promise<JudgedGoal[]> {
  await fetch(forwarded.url + SPENT_PATH, { headers: forwarded.headers });
  const full: number[] = [];
  const refused = refusedOf(forwarded).map(({ status, ...target }) => {
    const rates: number[] = [];
    return { status, target, rates };
  });
  for (let round = 1; round <= rounds; round++) {
    full.push((await load(forwarded, seconds, CONNECTIONS)).requests_per_second);
    for (const { status, target, rates } of refused) {
      progress(`round ${round}/${rounds}  refused with ${status}`);
      rates.push((await load(target, seconds, CONNECTIONS)).requests_per_second);
    }
  }
  return refused.map(({ status, rates }) =>
    judge({ title: `refused with ${status} / whole job, 64 clients`, bound: 1.3 }, ratiosOf(rates, full)),
  );
}
