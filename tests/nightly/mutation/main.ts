/**
 * Breaks a copy of the last commit in many places, one after the other, and reports which tier of tests finds
 * each: `bun run nightly mutation [--seed N] [--count N] [--only ROOM] [--seconds N]`.
 */
import { parseArgs } from "node:util";
import { readImporters } from "../../support/documents/importers.ts";
import { unpackSource } from "../../support/processes/older-source.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { allMutations, chosenFrom } from "./choose.ts";
import { diffOf, GOALS, lineOf, roomTable, sharesOf } from "./report.ts";
import { stagesOf } from "./stages.ts";
import { type Result, tryMutation } from "./trial.ts";

const TESTS = new Bun.Glob("tests/{unit,app,stores,flow,full}/**/*.test.ts");

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    count: { type: "string", default: "60" },
    only: { type: "string", default: "" },
    // The bound on the tests of each stage after the nearest, by their recorded durations.
    seconds: { type: "string", default: "Infinity" },
  },
});
const root = temporaryFolder("mutation");
await unpackSource("HEAD", root);
// Some tests ask git for the files of the repository.
Bun.spawnSync(["git", "init", "--quiet"], { cwd: root });
Bun.spawnSync(["git", "add", "--all"], { cwd: root });
const sources = {
  importers: await readImporters(root),
  files: (await Array.fromAsync(TESTS.scan(root))).sort(),
};
const rooms = new Map([...(await allMutations(root))].filter(([room]) => room.startsWith(values.only)));
const mutations = chosenFrom(rooms, { seed: Number(values.seed), count: Number(values.count) });
console.error(`${mutations.length} mutations of ${rooms.size} rooms, seed ${values.seed}`);
const results: Result[] = [];
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end());
for (const mutation of mutations) {
  const result = await tryMutation(root, mutation, stagesOf(mutation, root, sources, Number(values.seconds)));
  results.push(result);
  console.error(`${results.length}/${mutations.length} ${lineOf(result)}`);
}
end();

/** Prints the results so far, and exits. */
function end(): never {
  const survivors = results.filter(({ stage }) => stage === null).map(({ mutation }) => diffOf(mutation));
  const { first, both } = sharesOf(results);
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const shares = `The first tier found ${percent(first)} (goal ${percent(GOALS.first)}), both ${percent(both)} (goal ${percent(GOALS.both)}).`;
  console.log([roomTable(results), shares, ...survivors].join("\n\n"));
  process.exit(first >= GOALS.first && both >= GOALS.both ? 0 : 1);
}
