import type { Bench } from "./bench.ts";
import { memberPaths, type Services, servicesOf, TWO_LIMITS } from "./gateway/catalog.ts";
import { startIdentity } from "./gateway/identity.ts";
import { MEMBER_HEADERS, startGateway, startUpstream } from "./gateway/subjects.ts";
import { verify } from "./gateway/verify.ts";
import { Bed } from "./measure/bed.ts";
import { type Goal, type JudgedGoal, judge } from "./measure/goal-table.ts";
import { inRounds, type MeasuredWay, valuesOf, type Way } from "./measure/rounds.ts";
import { ratiosOf, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { CONNECTIONS } from "./measure/wrk.ts";

const PLAIN = "10 routes";

/** The goals for the ratio of requests a second to those of {@link PLAIN}, by the title of the subject. */
const GOALS: Readonly<Record<string, Goal>> = {
  "a line only for errors": { title: "a line for errors / for each request", bound: 1.11, at_most: true },
  "traces of 1 %": { title: "traces of 1 % / none", bound: 0.97 },
  "a window and a quota": { title: "a window and a quota / a window", bound: 0.97 },
  "10 000 routes": { title: "10 000 routes / 10 routes", bound: 0.99 },
  "100 000 routes": { title: "100 000 routes / 10 routes", bound: 0.97 },
};

/** Measures what routes, a second limit, log lines and traces cost the gateway. */
export const gateway: Bench = {
  summary: "requests per second of the gateway with many routes, two limits, log lines and traces",
  async run(options) {
    options.progress("starting the subjects");
    await using bed = Bed.onTwoCores();
    await using identity = await startIdentity();
    // A fake OpenTelemetry collector, which accepts spans and discards them.
    await using collector = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        await request.bytes();
        return new Response();
      },
    });
    const [upstream, redis] = [await startUpstream(bed), await bed.redis()];
    const services = { upstream, redisUrl: redis.url, ...identity };
    const way = async (title: string, routes: number | Services, variables = {}): Promise<Way> => {
      const started = await startGateway(bed, services, routes, { variables });
      const target = { ...started, paths: memberPaths, headers: MEMBER_HEADERS };
      await verify({ title, job: "whole", ...target });
      return { title, connections: CONNECTIONS, target };
    };
    const traces = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.origin,
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.01",
    };
    const ways = [
      await way(PLAIN, 10),
      await way("a window and a quota", servicesOf(10, upstream.url, TWO_LIMITS)),
      await way("10 000 routes", 10_000),
      await way("100 000 routes", 100_000),
      await way("a line only for errors", 10, { LOG_LEVEL: "error" }),
      await way("traces of 1 %", 10, traces),
    ];
    const plan = options.quick ? { rounds: 3, seconds: 2 } : { rounds: 7, seconds: 3 };
    const measured = await inRounds(ways, plan, options);
    const goals = goalsOf(measured);
    const parts = [
      `${plan.rounds} rounds of ${plan.seconds} s; one core for the subject, one for load and upstream`,
      table(["all features, with", "requests/s", "min..max", "p50 ms", "p99 ms"], measured.map(rowOf)),
    ];
    return { parts, goals, data: { plan, measured } };
  },
};

function goalsOf([plain, ...others]: readonly MeasuredWay[]): JudgedGoal[] {
  return others.flatMap((way) => {
    const goal = GOALS[way.title];
    if (goal === undefined || plain === undefined) return [];
    const by = (figure: "requests_per_second" | "requests_per_cpu_second") =>
      ratiosOf(valuesOf(way, figure), valuesOf(plain, figure));
    return [judge(goal, by("requests_per_second"), by("requests_per_cpu_second"))];
  });
}

function rowOf(way: MeasuredWay): string[] {
  const { median, min, max } = spreadOf(valuesOf(way, "requests_per_second"));
  return [
    way.title,
    whole(median),
    `${whole(min)}..${whole(max)}`,
    spreadOf(valuesOf(way, "p50_ms")).median.toFixed(2),
    spreadOf(valuesOf(way, "p99_ms")).median.toFixed(2),
  ];
}
