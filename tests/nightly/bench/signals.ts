import type { Bench } from "./bench.ts";
import { Bed } from "./gateway/bed.ts";
import { memberPaths } from "./gateway/catalog.ts";
import { startIdentity } from "./gateway/identity.ts";
import { report } from "./gateway/report.ts";
import { MEMBER_HEADERS, type Subject, startGateway, startUpstream } from "./gateway/subjects.ts";
import { verify } from "./gateway/verify.ts";
import { measure, PLAN, QUICK } from "./gateway.ts";
import { describeMachine } from "./measure/machine.ts";

/**
 * Measures the cost of logs and traces for the gateway. It compares a gateway that logs only errors with one
 * that logs each request, and with one that also traces 1 % of the requests.
 */
export const signals: Bench = {
  summary:
    "requests per second of the gateway with an error log, with a line for each request, and with traces of 1 %",
  async run(options) {
    const machine = describeMachine();
    const plan = options.quick ? QUICK : PLAN;
    options.progress("starting the subjects");
    await using bed = await Bed.create();
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
    const [upstream, redis] = await Promise.all([startUpstream(bed), bed.redis()]);
    const services = { upstream, redisUrl: redis.url, ...identity };
    const common = { job: "whole" as const, paths: memberPaths, headers: MEMBER_HEADERS };
    const quiet = await startGateway(bed, services, 10, { variables: { LOG_LEVEL: "error" } });
    const logged = await startGateway(bed, services, 10);
    const traced = await startGateway(bed, services, 10, {
      variables: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
        OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0.01",
      },
    });
    const subjects: Subject[] = [
      { name: "quiet", title: "gateway, whole job, a line only for errors", ...quiet, ...common },
      { name: "whole_job", title: "gateway, whole job, a line for each request", ...logged, ...common },
      { name: "traced", title: "the same, and traces of 1 %", ...traced, ...common },
    ];
    for (const subject of subjects) await verify(subject);
    return report(machine, plan, await measure(subjects, plan, options));
  },
};
