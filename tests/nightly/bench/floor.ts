import { ROOT } from "../../support/root.ts";
import { RunImpossible } from "../../support/run-impossible.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { startAudited } from "./floor/audited.ts";
import { SERVICES } from "./floor/catalog.ts";
import { goalsOf } from "./floor/goals.ts";
import { latenciesAtHalfLoad, latencyTable } from "./floor/half-load.ts";
import { LOADS, type Load } from "./floor/loads.ts";
import { cellsOf, measureInRounds, type Plan } from "./floor/measure.ts";
import { refusalGoals } from "./floor/refusals.ts";
import { figureTable } from "./floor/report.ts";
import { type Run, speedOf } from "./floor/speed.ts";
import { documentsOf } from "./floor/speed-documents.ts";
import { startSubjects, subjectOf, targetOf } from "./floor/subjects.ts";
import { envoyMissing } from "./gateway/envoy.ts";
import { startIdentity } from "./gateway/identity.ts";
import { rivalMissing } from "./gateway/rival.ts";
import { startServices } from "./gateway/subjects.ts";
import { verify } from "./gateway/verify.ts";
import { Bed } from "./measure/bed.ts";

const PLAN: Plan = { rounds: 7, seconds: 2, warm_up_seconds: 3 };
const QUICK: Plan = { rounds: 3, seconds: 1, warm_up_seconds: 1 };

/**
 * Returns the bench `floor`, which shows the cost of the gateway's guarantees. It compares the gateway with a
 * bare pass-through, with nginx and Lua, and with Envoy. The loads differ in the number of clients and of services.
 *
 * @param loadName the only load to measure; by default all loads
 */
export function floorUnder(loadName?: string): Bench {
  return {
    summary: `the gateway compared with a pass-through, nginx + Lua and Envoy: floor [${names(LOADS)}] [--record]`,
    async run(options) {
      const loads = loadName === undefined ? LOADS : LOADS.filter(({ name }) => name === loadName);
      if (loads.length === 0)
        throw new RunImpossible(`Name one of the loads ${names(LOADS)}, or no load to run all of them.`);
      if (options.record) requireWhole(loadName);
      const plan = options.quick ? QUICK : PLAN;
      for (const lack of missing()) options.progress(lack);
      const measured = await measure(loads, plan, options);
      const { cells, latencies, goals } = measured;
      if (options.record) await writeSpeed({ machine: options.machine, plan, ...measured });
      const parts = [
        `${plan.rounds} rounds of ${plan.seconds} s each; one core for the subject, one for load and services`,
        ...missing(),
        figureTable(cells),
        latencyTable(latencies),
      ];
      return { parts, goals, data: { plan, cells, latencies } };
    },
  };
}

/** Returns which programs cannot be measured on this machine, and why. */
function missing(): string[] {
  return [rivalMissing(), envoyMissing()].filter((lack) => lack !== null);
}

async function measure(loads: readonly Load[], plan: Plan, options: BenchOptions) {
  options.progress("starting the subjects");
  await using bed = Bed.onTwoCores();
  await using identity = await startIdentity();
  const [upstream, redis] = [await startServices(bed, SERVICES), await bed.redis()];
  const behind = { upstream, redisUrl: redis.url, ...identity };
  const subjects = await startSubjects(bed, behind);
  for (const subject of subjects) await verify({ ...subject, ...targetOf(subject, SERVICES) });
  const cells = cellsOf(subjects, loads);
  await measureInRounds(upstream.url, cells, plan, options);
  const whole = targetOf(subjectOf(subjects, "whole"), 1);
  const refusals = await refusalGoals(whole, plan, options);
  const latencies = await latenciesAtHalfLoad(
    [
      { title: "no gateway", target: { ...whole, ...upstream } },
      ...subjects.map((subject) => ({ title: subject.title, target: targetOf(subject, 1) })),
      await startAudited(bed, behind),
    ],
    plan,
    options,
  );
  return { cells, latencies, goals: [...goalsOf(cells), ...refusals] };
}

/** Refuses to write a set of figures that would not have every load and every row. */
function requireWhole(loadName: string | undefined): void {
  if (loadName === undefined && missing().length === 0) return;
  throw new RunImpossible(
    "The documents show every load and row: run floor --record without other arguments, and install nginx with Lua, and Envoy.",
  );
}

async function writeSpeed(run: Omit<Run, "day" | "commit">): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  const commit = (await Bun.$`git rev-parse --short=8 HEAD`.cwd(ROOT).text()).trim();
  const documents = await documentsOf(speedOf({ ...run, day, commit }));
  for (const [path, text] of documents) await Bun.write(path, text);
}

function names(loads: readonly Load[]): string {
  return loads.map(({ name }) => name).join(" | ");
}
