import { join } from "node:path";
import { ROOT } from "../support/root.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The result of a run of `bun test`. */
interface TestRun {
  readonly exitCode: number;
  readonly passed: number;
  /** The files of the tests that passed. */
  readonly files: ReadonlySet<string>;
  readonly skipped: readonly SkippedTest[];
}

interface SkippedTest {
  readonly file: string;
  /** The line of the test in its file. */
  readonly line: number;
}

/** Runs `bun test` with these arguments, and shows its output on stderr. A signal to this process also ends the run. */
export async function runTests(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<TestRun> {
  const report = join(temporaryFolder("test-run"), "junit.xml");
  const tests = Bun.spawn(
    [process.execPath, "test", "--reporter=junit", `--reporter-outfile=${report}`, ...args],
    { cwd: ROOT, env: { ...process.env, ...env }, stdio: ["ignore", 2, "inherit"] },
  );
  const stop = (signal: NodeJS.Signals) => tests.kill(signal);
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const exitCode = await tests.exited;
  process.off("SIGINT", stop).off("SIGTERM", stop);
  const written = Bun.file(report);
  return { exitCode, ...resultsIn((await written.exists()) ? await written.text() : "") };
}

function resultsIn(junit: string): Omit<TestRun, "exitCode"> {
  const cases = Array.from(
    junit.matchAll(/<testcase .*? file="(.*?)" line="(\d+)"[^>]*?(\/>|>\s*<(\w+))/g),
    ([, file = "", line, end, child]) => ({ file, line: Number(line), end, child }),
  );
  const passed = cases.filter(({ end }) => end === "/>");
  return {
    passed: passed.length,
    files: new Set(passed.map(({ file }) => file)),
    skipped: cases.filter(({ child }) => child === "skipped"),
  };
}

/** Returns lines about the skipped tests: for each condition that skips tests, their number and files. */
export async function unprovedIn({ skipped }: TestRun): Promise<string[]> {
  const conditions = await Promise.all(
    skipped.map(async (test) => ({ condition: await conditionOf(test), ...test })),
  );
  return Object.entries(Object.groupBy(conditions, ({ condition }) => condition)).map(
    ([condition, tests = []]) =>
      `${tests.length} by ${condition}: ${[...new Set(tests.map(({ file }) => file))].join(", ")}`,
  );
}

/** Returns the condition at or nearest above a skipped test in its file, as the file spells it. */
async function conditionOf({ file, line }: SkippedTest): Promise<string> {
  const lines = (await Bun.file(join(ROOT, file)).text()).split("\n").slice(0, line);
  const found = lines.join("\n").match(/\b(?:test|describe)\.(?:skipIf|if)\(.*?\)(?=[(.;\n])/g);
  return found?.at(-1)?.replace(/^\w+\./, "") ?? "another condition";
}
