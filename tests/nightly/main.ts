/** Runs the third tier of tests, or one part of it: `bun run nightly [PART] [ARGUMENT...]`. */
import { ROOT } from "../support/root.ts";
import { runTests } from "../verify/run-tests.ts";
import { table } from "./bench/measure/table.ts";
import { type Command, PARTS, type Part } from "./parts.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

interface Verdict {
  readonly part: string;
  readonly exitCode: number;
  readonly seconds: number;
}

const [name, ...given] = process.argv.slice(2);
const part = PARTS.find((each) => each.name === name);
if (name !== undefined && part === undefined) {
  const list = PARTS.map((each) => `  ${each.name.padEnd(12)} ${each.summary}`).join("\n");
  console.error(`bun run nightly [PART] [ARGUMENT...] runs all parts, or one with arguments:\n${list}`);
  process.exit(EXIT_USAGE);
}
const chosen = part === undefined ? PARTS : [part];
const verdicts: Verdict[] = [];
for (const [index, each] of chosen.entries()) {
  say(`${index + 1}/${chosen.length} ${each.name}: ${each.summary}`);
  const verdict = await runPart(each, given[0] === "--" ? given.slice(1) : given);
  verdicts.push(verdict);
  say(`${each.name} ${resultOf(verdict)} after ${verdict.seconds} s`);
}
if (part === undefined) {
  const rows = verdicts.map((each) => [each.part, String(each.seconds), resultOf(each)]);
  console.log(table(["part", "seconds", "verdict"], rows));
}
process.exit(verdicts.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0);

/** Runs the commands of a part in sequence, up to the first that fails. */
async function runPart({ name, commands }: Part, args: readonly string[]): Promise<Verdict> {
  const startedMs = performance.now();
  let exitCode = 0;
  for (const [index, command] of commands.entries()) {
    if (exitCode !== 0) break;
    const isLast = index === commands.length - 1;
    exitCode = await run({ ...command, args: [...command.args, ...(isLast ? args : [])] });
  }
  return { part: name, exitCode, seconds: Math.round((performance.now() - startedMs) / 1000) };
}

/** Runs a command to its end, and returns its exit code. A command without a test fails. */
async function run({ args, env = {} }: Command): Promise<number> {
  if (args[0] === "test") {
    const { exitCode, passed } = await runTests(args.slice(1), env);
    if (passed === 0) say("no test ran");
    return exitCode === 0 && passed === 0 ? EXIT_FAILED : exitCode;
  }
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return await child.exited;
}

function resultOf({ exitCode }: Verdict): string {
  return exitCode === 0 ? "passed" : `FAILED with exit code ${exitCode}`;
}

function say(line: string): void {
  console.error(`nightly: ${line}`);
}
