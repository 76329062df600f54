import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import type { Bench } from "./bench.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import { ServiceBed } from "./measure/service-bed.ts";
import { type Spread, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { timeOf } from "./measure/time-of.ts";

export const ADMIN_TOKEN = "bench-admin-token";
const ROUTES = 10_000;

/**
 * Measures how long `apply` takes for a large document, and how soon after its response etcd has the new
 * value.
 */
export const registry: Bench = {
  summary: "apply of 10 000 routes, and the time from its response to the new value in etcd",
  async run({ quick, progress }) {
    const machine = describeMachine();
    await using bed = new ServiceBed(["etcd"]);
    const [database, etcd] = [await bed.database(), await bed.routeStore()];
    const service = await bed.process("apps/registry/main.ts", {
      DATABASE_URL: database.url,
      ROUTE_STORE_URL: etcd.url,
      ADMIN_TOKEN,
    });
    const store = await openRouteStore(etcd.url);
    const figures: Record<string, Spread> = {};
    for (const services of [1, 100]) {
      progress(`${whole(ROUTES)} routes of ${services} services`);
      const samples = await repeat(quick ? 3 : 10, (round) =>
        apply(service.url, documentOf(services, round)),
      );
      figures[`apply, ${whole(ROUTES)} routes of ${services} ${services === 1 ? "service" : "services"}`] =
        spreadOf(samples);
    }
    progress("from the response to the new value in etcd");
    const delays = await repeat(quick ? 50 : 500, async (round) => {
      await apply(service.url, { probe: probe(round) });
      return untilSeen(store, `${ROUTES_PREFIX}probe`, probe(round).url);
    });
    figures["from the response to the new value in etcd"] = spreadOf(delays);
    await store.close();
    const rows = Object.entries(figures).map(([name, { median, min, max }]) => [
      name,
      ...[median, min, max].map((value) => value.toFixed(1)),
    ]);
    return {
      text: [machineLine(machine), "", table(["ms", "median", "min", "max"], rows)].join("\n"),
      data: { machine, figures },
    };
  },
};

/**
 * Runs `measure` once as a warm-up and then `rounds` times. Returns the results without that of the warm-up.
 */
async function repeat(rounds: number, measure: (round: number) => Promise<number>): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const sample = await measure(round);
    if (round > 0) samples.push(sample);
  }
  return samples;
}

/** Applies `services`, and returns the response time in milliseconds. */
export async function apply(url: string, services: object): Promise<number> {
  const body = JSON.stringify({ services });
  const started = performance.now();
  const response = await fetch(`${url}/apply`, {
    method: "POST",
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
    body,
  });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(`The registry responded with ${response.status}: ${answer}`);
  return performance.now() - started;
}

/** Polls until the value of `key` contains `part`, and returns the elapsed milliseconds. */
async function untilSeen(store: RouteStore, key: string, part: string): Promise<number> {
  return timeOf(async () => {
    while ((await store.get(key))?.value.includes(part) !== true) {
      // Poll without a pause, because each read takes less than a millisecond.
    }
  });
}

/**
 * Returns the services of a document with 10 000 routes, spread over `services` services. Each path has two
 * routes: GET and POST. Each round has different upstream URLs, so `apply` changes every service.
 */
export function documentOf(services: number, round: number): object {
  const routesOf = (service: number) =>
    Array.from({ length: ROUTES / services / 2 }, (_, route) => ({
      path: `/of-${services}/s${service}/r${route}/{id}`,
      methods: { GET: {}, POST: { required_labels: ["widgets:write"] } },
    }));
  return Object.fromEntries(
    Array.from({ length: services }, (_, service) => [
      `of-${services}-${service}`,
      { url: `http://upstream:${1 + round}`, member: { routes: routesOf(service) } },
    ]),
  );
}

function probe(round: number) {
  return {
    url: `http://upstream:${1_000 + round}`,
    public: { routes: [{ path: "/probe", methods: ["GET"] }] },
  };
}
