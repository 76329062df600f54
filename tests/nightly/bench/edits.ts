import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { openRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { freePort } from "../../support/http/free-port.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { servedAfterApply } from "./edits/apply.ts";
import { editedService, FEW_ROUTES, MANY_ROUTES, whenServed } from "./edits/edited-service.ts";
import { publicPaths } from "./gateway/catalog.ts";
import { type Identity, startIdentity } from "./gateway/identity.ts";
import { HEADERS, startGateway, startUpstream } from "./gateway/subjects.ts";
import { Bed, type Started } from "./measure/bed.ts";
import { type Goal, type JudgedGoal, judge } from "./measure/goal-table.ts";
import { forgetResidentBytesMax, residentBytes, residentBytesMax } from "./measure/machine.ts";
import { percentile, ratiosOf, spreadOf } from "./measure/statistics.ts";
import { whole } from "./measure/table.ts";
import { load, type Target } from "./measure/wrk.ts";

const MIB = 1_048_576;
const EDIT_PAUSE_MS = 100;
/** The pause after a gateway loads its routes, in which it can return memory to the system. */
const SETTLE_MS = 3_000;
const WARM_UP_SECONDS = 4;
const Longest = Type.Object({ wall_ms: Type.Number(), cpu_ms: Type.Number() });
const TICKER = `${import.meta.dir}/edits/preload.ts`;

interface Size {
  readonly routes: number;
  readonly stall_ms: number | null;
  readonly memory_mib: number;
}

const SIZES: readonly Size[] = [
  { routes: 0, stall_ms: null, memory_mib: 98 },
  { routes: 10_000, stall_ms: 5, memory_mib: 130 },
  { routes: 100_000, stall_ms: 20, memory_mib: 300 },
];

/**
 * Measures the effects of one edit of a service: how long the edit stalls other requests, and how soon
 * gateways serve the edited service. Also measures the memory that a gateway needs for its routes.
 */
export const edits: Bench = {
  summary:
    "one edit among 10 000 and 100 000 routes: stall of other requests, time until it is served, memory",
  async run(options) {
    // This measurement runs first, because even idle gateways use CPU time.
    options.progress("from apply to the first request served, 10 000 routes");
    const servedMs = await servedAfterApply(options.quick ? 30 : 300);
    await using bed = Bed.onTwoCores();
    await using identity = await startIdentity();
    const services = { upstream: await startUpstream(bed), redisUrl: (await bed.redis()).url, ...identity };
    const goals: JudgedGoal[] = [];
    for (const size of SIZES) goals.push(...(await goalsOf(size, bed, services, options)));
    goals.push(
      judge(
        ceiling("from apply to the first request served, 10 000 routes, p50 in ms", 10),
        spreadOf(servedMs),
      ),
      judge(ceiling("the same, p99 in ms", 25), spreadOf([percentile(servedMs, 99)])),
    );
    return { parts: [], goals, data: {} };
  },
};

type Services = Identity & { upstream: Started; redisUrl: string };
interface Edited {
  readonly gateway: Started & { readonly routeStoreUrl: string };
  readonly tickerUrl: string;
  readonly edit: (routes?: number) => Promise<void>;
}

async function goalsOf(
  size: Size,
  bed: Bed,
  services: Services,
  options: BenchOptions,
): Promise<JudgedGoal[]> {
  const routes = whole(size.routes);
  options.progress(`a gateway with ${routes} routes`);
  const tickerPort = freePort();
  const gateway = await startGateway(bed, services, size.routes, {
    preload: TICKER,
    variables: {
      TICKER_PORT: String(tickerPort),
      // Without this variable, the gateway sets it and restarts itself.
      BUN_CONFIG_MAX_HTTP_REQUESTS: "65000",
      RATE_LIMIT_REQUESTS: "0",
      RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0",
    },
  });
  await Bun.sleep(SETTLE_MS);
  const resident = residentBytes(gateway.pid);
  const memory = judge(ceiling(`memory, ${routes} routes, MiB`, size.memory_mib), spreadOf([resident / MIB]));
  if (size.stall_ms === null) return [memory];
  const store = await openRouteStore(gateway.routeStoreUrl);
  let count = 0;
  const edit = async (routes?: number) => {
    const probe = `/edited/${++count}`;
    await store.put(`${ROUTES_PREFIX}edited`, JSON.stringify(editedService(probe, routes)));
    await whenServed(gateway.url, probe);
  };
  const edited: Edited = { gateway, tickerUrl: `http://127.0.0.1:${tickerPort}`, edit };
  const stall = ceiling(`longest stall by one edit, ${routes} routes, ms`, size.stall_ms);
  const large = ceiling(
    `longest stall by an edit of ${whole(MANY_ROUTES)} routes, among ${routes}, ms`,
    size.stall_ms,
  );
  const goals = [memory, await stallOf(edited, stall, options, FEW_ROUTES)];
  // Load the gateway first, so that the memory that the load needs is not attributed to the edits.
  await load(targetOf(gateway), WARM_UP_SECONDS);
  const loaded = residentBytes(gateway.pid);
  forgetResidentBytesMax(gateway.pid);
  goals.push(
    await p99Of(edited, ceiling(`p99 with 10 edits a second / without, ${routes} routes`, 2), options),
  );
  const peak = spreadOf([residentBytesMax(gateway.pid) / loaded]);
  goals.push(judge(ceiling(`peak memory during these edits / before, ${routes} routes`, 1.2), peak));
  goals.push(await stallOf(edited, large, options, MANY_ROUTES));
  await store.close();
  return goals;
}

/** Measures the longest event-loop stall during each edit of a service with `routes` routes. */
async function stallOf(
  { tickerUrl, edit }: Edited,
  goal: Goal,
  { quick }: BenchOptions,
  routes: number,
): Promise<JudgedGoal> {
  const longest: { wall_ms: number; cpu_ms: number }[] = [];
  await edit(routes);
  for (let time = 0; time < (quick ? 10 : 50); time++) {
    await fetch(tickerUrl);
    await edit(routes);
    await Bun.sleep(EDIT_PAUSE_MS);
    longest.push(Value.Parse(Longest, await (await fetch(tickerUrl)).json()));
  }
  return judge(
    goal,
    spreadOf(longest.map(({ wall_ms }) => wall_ms)),
    spreadOf(longest.map(({ cpu_ms }) => cpu_ms)),
  );
}

async function p99Of({ gateway, edit }: Edited, goal: Goal, { quick }: BenchOptions): Promise<JudgedGoal> {
  const target = targetOf(gateway);
  const seconds = quick ? 2 : 4;
  const p99s: { quiet: number; edited: number }[] = [];
  for (let round = 0; round < (quick ? 2 : 5); round++) {
    const quiet = await load(target, seconds);
    const loading = load(target, seconds);
    const end = performance.now() + seconds * 1_000;
    while (performance.now() < end) await Promise.all([edit(), Bun.sleep(EDIT_PAUSE_MS)]);
    p99s.push({ quiet: quiet.p99_ms, edited: (await loading).p99_ms });
  }
  return judge(
    goal,
    ratiosOf(
      p99s.map((each) => each.edited),
      p99s.map((each) => each.quiet),
    ),
  );
}

function targetOf({ pid, url }: Started): Target {
  return { pid, url, paths: publicPaths, headers: HEADERS };
}

function ceiling(title: string, bound: number): Goal {
  return { title, bound, at_most: true };
}
