import type { Bench, BenchOptions } from "./bench.ts";
import { Bed } from "./gateway/bed.ts";
import type { Measured } from "./gateway/goals.ts";
import { startIdentity } from "./gateway/identity.ts";
import { report } from "./gateway/report.ts";
import { type Subject, startSubjects } from "./gateway/subjects.ts";
import { verify } from "./gateway/verify.ts";
import { describeMachine } from "./measure/machine.ts";
import { turnedBy } from "./measure/rounds.ts";
import { whole } from "./measure/table.ts";
import { load } from "./measure/wrk.ts";

interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly warm_up_seconds: number;
}

const PLAN: Plan = { rounds: 7, seconds: 3, warm_up_seconds: 6 };
const QUICK: Plan = { rounds: 3, seconds: 2, warm_up_seconds: 2 };

/**
 * Measures what routes, a second limit, log lines and traces cost the gateway. One core runs the subject, another one the load and the
 * upstream service. Each round measures every subject, so that other work on the machine affects all equally.
 */
export const gateway: Bench = {
  summary: "requests per second of the gateway with many routes, two limits, log lines and traces",
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
    const subjects = await startSubjects(bed, identity, collector.url.origin);
    for (const subject of subjects) await verify(subject);
    const measured = await measure(subjects, plan, options);
    return report(machine, plan, measured);
  },
};

async function measure(subjects: Subject[], plan: Plan, { progress }: BenchOptions): Promise<Measured[]> {
  for (const subject of subjects) {
    progress(`warming up: ${subject.title}`);
    await load(subject, plan.warm_up_seconds);
  }
  const measured = subjects.map((subject): Measured => ({ subject, samples: [] }));
  for (let round = 0; round < plan.rounds; round++) {
    for (const { subject, samples } of turnedBy(measured, round)) {
      const sample = await load(subject, plan.seconds);
      samples.push(sample);
      const { requests_per_second, cpu_share } = sample;
      const held = cpu_share < UNDISTURBED_SHARE ? `, only ${Math.round(cpu_share * 100)} % of its core` : "";
      progress(`round ${round + 1}/${plan.rounds}  ${subject.title}: ${whole(requests_per_second)}/s${held}`);
    }
  }
  return measured;
}

/**
 * The minimum share of its core that a subject uses in an undisturbed measurement. Below it, other work used
 * the core, or the load generator was too slow.
 */
const UNDISTURBED_SHARE = 0.93;
