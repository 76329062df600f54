import type { RouteTable, StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { buildRouteTable } from "../../support/gateway/route-tables.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { describeMachine, type Machine, machineLine } from "./measure/machine.ts";
import { type Spread, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";

const SIZES = [10, 1_000, 10_000, 100_000];
const ROUTES_PER_SERVICE = 100;
/** The number of different paths to look up, spread evenly over the route table. */
const PATHS = 1_024;

interface LookupFigure {
  readonly routes: number;
  readonly build_ms: number;
  /** The time for a path that matches a route. */
  readonly hit_ns: Spread;
  /** The time for a path that matches no route. */
  readonly miss_ns: Spread;
}

/** Measures the time to match a path, and shows that it does not grow with the number of routes (GW-18). */
export const lookup: Bench = {
  summary: "RouteTable.match for 10 to 100 000 routes, in nanoseconds",
  async run(options) {
    const machine = describeMachine();
    const figures = SIZES.map((routes) => measure(routes, options));
    return { text: textOf(machine, figures), data: { machine, figures } };
  },
};

function measure(routes: number, { quick, progress }: BenchOptions): LookupFigure {
  progress(`${whole(routes)} routes`);
  const started = performance.now();
  const routeTable = buildRouteTable(services(routes));
  const build_ms = performance.now() - started;
  const paths = Array.from({ length: PATHS }, (_, index) => {
    const route = Math.floor((index * routes) / PATHS);
    return `${pathOf(route)}/${index}/parts/${index * 7}`;
  });
  const rounds = quick ? 5 : 20;
  const matches = quick ? 200_000 : 500_000;
  const unknown = paths.map((path) => `${path}/unknown`);
  return {
    routes,
    build_ms,
    hit_ns: nanoseconds(routeTable, paths, { rounds, matches, found: true }),
    miss_ns: nanoseconds(routeTable, unknown, { rounds, matches, found: false }),
  };
}

interface Repetition {
  readonly rounds: number;
  readonly matches: number;
  /**
   * Whether every lookup must find a route. Checking the result prevents the JIT from eliminating the lookup.
   */
  readonly found: boolean;
}

function nanoseconds(
  routeTable: RouteTable,
  paths: string[],
  { rounds, matches, found }: Repetition,
): Spread {
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const started = Bun.nanoseconds();
    let right = 0;
    for (let index = 0; index < matches; index++) {
      if ((routeTable.match("GET", paths[index % PATHS] ?? "") !== null) === found) right++;
    }
    const took = (Bun.nanoseconds() - started) / matches;
    if (right !== matches)
      throw new Error(`RouteTable.match was wrong for ${matches - right} of ${matches} paths.`);
    if (round > 0) samples.push(took); // the first round warms up
  }
  return spreadOf(samples);
}

function* services(routes: number): Generator<[string, StoredServiceConfig]> {
  for (let first = 0; first < routes; first += ROUTES_PER_SERVICE) {
    const count = Math.min(ROUTES_PER_SERVICE, routes - first);
    yield [
      `service-${first / ROUTES_PER_SERVICE}`,
      {
        url: "http://127.0.0.1:8080",
        organization: {
          routes: Array.from({ length: count }, (_, index) => ({
            path: `${pathOf(first + index)}/{thing_id}/parts/{part_id}`,
            methods: ["GET" as const],
          })),
        },
      },
    ];
  }
}

function pathOf(route: number): string {
  return `/org/area-${Math.floor(route / ROUTES_PER_SERVICE)}/things-${route % ROUTES_PER_SERVICE}`;
}

function textOf(machine: Machine, figures: LookupFigure[]): string {
  const rows = figures.map(({ routes, build_ms, hit_ns, miss_ns }) => [
    whole(routes),
    whole(build_ms),
    ...[hit_ns, miss_ns].flatMap(({ median, min, max }) => [whole(median), `${whole(min)}..${whole(max)}`]),
  ]);
  const head = ["routes", "build ms", "match ns", "min..max", "no match ns", "min..max"];
  return [machineLine(machine), "", table(head, rows)].join("\n");
}
