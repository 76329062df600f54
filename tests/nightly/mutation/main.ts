/**
 * Breaks copies of the last commit in many places, one after the other, and reports which tier of tests finds
 * each: `bun run nightly mutation [--seed N] [--count N] [--only FOLDER] [--seconds N] [--coverage FILE]`.
 */
import { parseArgs } from "node:util";
import { unpackSource } from "../../support/processes/older-source.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { allMutations, chosenFrom } from "./choose.ts";
import { type Coverage, coverageOf } from "./coverage.ts";
import { diffOf, folderTable, GOALS, lineOf, sharesOf } from "./report.ts";
import { stagesOf } from "./stages.ts";
import { type Result, tryMutation } from "./trial.ts";

const TESTS = new Bun.Glob("tests/{unit,app,stores,flow,full}/**/*.test.ts");
/** Tests that run the product in other processes or in a browser, so that coverage would tell nothing. */
const ELSEWHERE = /^tests\/full\/(flow|release|client|app\/console)\//;
const WORKERS = 2;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    count: { type: "string", default: "60" },
    only: { type: "string", default: "" },
    // The bound on the tests of each stage, by their durations.
    seconds: { type: "string", default: "Infinity" },
    // A file that keeps the coverage of the tests for later runs on the same commit.
    coverage: { type: "string" },
  },
});
const copies = Array.from({ length: WORKERS }, () => temporaryFolder("mutation"));
const [root = ""] = copies;
await Promise.all(copies.map(prepare));
const files = (await Array.fromAsync(TESTS.scan(root))).sort();
const coverage = await readCoverage();
const folders = await allMutations(root, values.only);
const mutations = chosenFrom(folders, { seed: Number(values.seed), count: Number(values.count) });
console.error(`${mutations.length} mutations of ${folders.size} folders, seed ${values.seed}`);
const results: Result[] = [];
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end());
await eachInCopy(mutations, async (mutation, copy) => {
  const stages = stagesOf(mutation, { files, coverage }, Number(values.seconds));
  const result = await tryMutation(copy, mutation, stages);
  results.push(result);
  console.error(`${results.length}/${mutations.length} ${lineOf(result)}`);
});
end();

async function prepare(copy: string): Promise<void> {
  await unpackSource("HEAD", copy);
  // Some tests ask git for the files of the repository.
  Bun.spawnSync(["git", "init", "--quiet"], { cwd: copy });
  Bun.spawnSync(["git", "add", "--all"], { cwd: copy });
}

async function readCoverage(): Promise<Coverage> {
  const kept = values.coverage === undefined ? null : Bun.file(values.coverage);
  if (kept !== null && (await kept.exists())) return kept.json();
  const recorded: Record<string, Coverage[string]> = {};
  const own = files.filter((file) => !ELSEWHERE.test(file));
  let done = 0;
  await eachInCopy(own, async (file, copy) => {
    const covered = await coverageOf(copy, file);
    if (covered !== null) recorded[file] = covered;
    console.error(`coverage ${++done}/${own.length} ${file}${covered === null ? " failed" : ""}`);
  });
  if (kept !== null) await kept.write(JSON.stringify(recorded));
  return recorded;
}

/** Does the work for each item in one of the copies, and in each copy one item at a time. */
async function eachInCopy<Item>(
  items: readonly Item[],
  work: (item: Item, copy: string) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  await Promise.all(
    copies.map(async (copy) => {
      for (const item of rest) await work(item, copy);
    }),
  );
}

/** Prints the results so far, and exits. */
function end(): never {
  const survivors = results.filter(({ stage }) => stage === null).map(({ mutation }) => diffOf(mutation));
  const { first, both } = sharesOf(results);
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const shares = `The first tier found ${percent(first)} (goal ${percent(GOALS.first)}), both ${percent(both)} (goal ${percent(GOALS.both)}).`;
  console.log([folderTable(results), shares, ...survivors].join("\n\n"));
  process.exit(first >= GOALS.first && both >= GOALS.both ? 0 : 1);
}
