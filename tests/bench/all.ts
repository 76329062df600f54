import { join } from "node:path";
import type { Bench, BenchResult } from "./bench.ts";
import { goalTable, type JudgedGoal } from "./measure/goals.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import { pictureOf } from "./measure/picture.ts";

const PICTURE = join(import.meta.dir, "../../.github/pictures/speed.svg");

/** Every bench that has goals, one after the other, and the picture of its ratios for the README. */
export function allOf(benches: Readonly<Record<string, () => Promise<Bench>>>): Bench {
  return {
    summary: "every bench that has goals; writes the README's picture, .github/pictures/speed.svg",
    async run(options) {
      const machine = describeMachine();
      const results: Record<string, BenchResult> = {};
      for (const [name, load] of Object.entries(benches)) {
        options.progress(`— ${name}`);
        const result = await (await load()).run(options);
        if (result.goals !== undefined) results[name] = result;
      }
      const goals = Object.values(results).flatMap((result): readonly JudgedGoal[] => result.goals ?? []);
      if (!options.quick) await Bun.write(PICTURE, pictureOf(goals, machineLine(machine)));
      const texts = Object.entries(results).map(([name, { text }]) => `# ${name}\n\n${text}\n`);
      const data = Object.fromEntries(Object.entries(results).map(([name, result]) => [name, result.data]));
      return {
        text: `${texts.join("\n")}\n# All goals\n\n${goalTable(goals)}`,
        goals,
        data: { machine, ...data },
      };
    },
  };
}
