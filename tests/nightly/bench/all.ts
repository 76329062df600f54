import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Bench, BenchOptions } from "./bench.ts";
import { JudgedGoal } from "./measure/goal-table.ts";

const MAIN = join(import.meta.dir, "main.ts");

const Data = Type.Object({ goals: Type.Array(JudgedGoal) });

export function allOf(names: readonly string[]): Bench {
  return {
    summary: "every bench that has goals",
    async run(options) {
      const data: Record<string, object> = {};
      const goals: JudgedGoal[] = [];
      for (const [index, name] of names.entries()) {
        options.progress(`— ${index + 1}/${names.length} ${name}`);
        const result = await runAlone(name, options);
        data[name] = result;
        goals.push(...Value.Parse(Data, result).goals);
      }
      const run = options.quick ? "a quick run, so figures are rough" : "one run";
      return { parts: [`${run}, ${new Date().toISOString().slice(0, 10)}`], goals, data };
    },
  };
}

/**
 * Runs a bench and returns its JSON output. Each bench needs a new process, because a bench may pin its
 * process to one core.
 */
async function runAlone(name: string, { quick, record }: BenchOptions): Promise<object> {
  const flags = [...(quick ? ["--quick"] : []), ...(record && name === "floor" ? ["--record"] : [])];
  const command = [process.execPath, MAIN, name, "--json", ...flags];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const [output, code] = await Promise.all([child.stdout.text(), child.exited]);
  if (code !== 0) throw new Error(`The bench ${name} exited with code ${code}.`);
  return JSON.parse(output);
}
