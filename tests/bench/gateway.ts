import type { Bench, BenchOptions } from "./bench.ts";
import { Bed } from "./gateway/bed.ts";
import type { Measured } from "./gateway/goals.ts";
import { startIdentity } from "./gateway/identity.ts";
import { report } from "./gateway/report.ts";
import { rivalMissing } from "./gateway/rival.ts";
import { type Subject, startSubjects } from "./gateway/subjects.ts";
import { verify } from "./gateway/verify.ts";
import { describeMachine } from "./measure/machine.ts";
import { whole } from "./measure/table.ts";
import { load } from "./measure/wrk.ts";

interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly warm_up_seconds: number;
}

export const PLAN: Plan = { rounds: 7, seconds: 3, warm_up_seconds: 6 };
export const QUICK: Plan = { rounds: 3, seconds: 2, warm_up_seconds: 2 };

/**
 * The gateway beside a bare pass-through and nginx with Lua: one core for whatever is measured, one for load and
 * upstream, in rounds in which each has its turn, so that a disturbance meets all alike.
 */
export const gateway: Bench = {
  summary: "requests per second of the gateway, a bare pass-through, and nginx + Lua doing the same job",
  async run(options) {
    const machine = describeMachine();
    const plan = options.quick ? QUICK : PLAN;
    const missing = rivalMissing();
    if (missing !== null) options.progress(missing);
    options.progress("starting everything that is compared");
    await using bed = await Bed.create();
    await using identity = await startIdentity();
    const subjects = await startSubjects(bed, identity);
    for (const subject of subjects) await verify(subject);
    const measured = await measure(subjects, plan, options);
    return report(machine, plan, measured, missing);
  },
};

export async function measure(
  subjects: Subject[],
  plan: Plan,
  { progress }: BenchOptions,
): Promise<Measured[]> {
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

/** Below this, something else ran on the subject's core or the load could not keep up. */
const UNDISTURBED_SHARE = 0.93;

/** Each round begins with another subject, so that none is always the one after the heaviest. */
function turnedBy<Item>(items: Item[], by: number): Item[] {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
