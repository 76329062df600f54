import timings from "../../verify/timings.json" with { type: "json" };
import type { Mutation } from "./choose.ts";
import type { Coverage } from "./coverage.ts";

/** The stages of the search for a test that finds a mutation: the tiers. */
export const STAGES = ["first tier", "second tier"] as const;
export type Stage = (typeof STAGES)[number];

/** Tests that call every operation, or compare random calls with a model. They find what no test names. */
const SWEEP = /\/(every-|model\.|openapi-responses\/)/;
/** Tests of a page in a browser. */
const BROWSER = /^tests\/full\/(flow\/portal|app\/console)\//;

/** The durations that `bun run verify` recorded, in milliseconds. It leaves out short files. */
const recorded: Readonly<Record<string, number>> = timings.files;
const SHORT_MS = 5000;

interface TestFiles {
  readonly files: readonly string[];
  readonly coverage: Coverage;
}

/**
 * Returns the test files of each stage: those that run the mutated line, and then those that start the service as
 * a process or load it into a browser. The likeliest to find it come first, and among these the fastest.
 *
 * @param secondsMax the bound on the tests of each stage, by their durations
 */
export function stagesOf(
  mutation: Mutation,
  { files, coverage }: TestFiles,
  secondsMax: number,
): Readonly<Record<Stage, string[]>> {
  const line = mutation.source.slice(0, mutation.start).split("\n").length;
  const covers = (file: string) => coverage[file]?.lines[mutation.path]?.includes(line) ?? false;
  const msOf = (file: string) => coverage[file]?.durationMs ?? recorded[file] ?? SHORT_MS;
  const likelihood = (file: string) =>
    (covers(file) ? 1 : 0) + (isBroad(file, mutation) ? 1 : 0) + sharedWords(mutation.path, file);
  const sorted = files
    .filter((file) => covers(file) || startsFolder(file, mutation.folder))
    .toSorted((a, b) => likelihood(b) - likelihood(a) || msOf(a) - msOf(b));
  const isSecond = (file: string) => file.startsWith("tests/full/");
  return {
    "first tier": within(
      secondsMax * 1000,
      sorted.filter((file) => !isSecond(file)),
      msOf,
    ),
    "second tier": within(secondsMax * 1000, sorted.filter(isSecond), msOf),
  };
}

/** Returns how many words of the path of a file are in the path of a test, such as `audit` and `streams`. */
function sharedWords(path: string, test: string): number {
  const words = new Set(test.split(/[/.-]/));
  return path.split(/[/.-]/).filter((word) => word.length > 3 && words.has(word)).length;
}

/** Returns whether a test is the likeliest to find a mutation: the sweeps of a service, and the browser for a page. */
function isBroad(file: string, { path, folder }: Mutation): boolean {
  const isOwn = file.includes(`/${folder.split("/")[1]}`);
  if (path.endsWith("x") || path.includes("/page/"))
    return BROWSER.test(file) && (isOwn || folder === "lib/page");
  return SWEEP.test(file) && (isOwn || file.startsWith("tests/full/flow/"));
}

/** Returns whether a test that does not import the folder may start its service as a process, judged by its path. */
function startsFolder(file: string, folder: string): boolean {
  const [, name = ""] = folder.split("/");
  if (file.startsWith("tests/flow/")) return true;
  if (!file.startsWith("tests/full/")) return false;
  if (/flow\/(every-service|hostile)/.test(file)) return true;
  return folder.startsWith("lib/")
    ? /flow\/(platform|portal)|app\/console/.test(file)
    : file.includes(`/${name}`);
}

/** Returns the files that take at most this time together, the first ones if not all fit, and at least one. */
function within(msMax: number, files: readonly string[], msOf: (file: string) => number): string[] {
  let sum = 0;
  return files.filter((file, index) => {
    if (index > 0 && sum + msOf(file) > msMax) return false;
    sum += msOf(file);
    return true;
  });
}
