import { join, relative } from "node:path";
import { type Importers, testsOf } from "../../support/documents/importers.ts";
import timings from "../../verify/timings.json" with { type: "json" };
import type { Mutation } from "./choose.ts";

/** The stages of the search for a test that finds a mutation. The first two are the first tier. */
export const STAGES = ["nearest", "first tier", "second tier"] as const;
export type Stage = (typeof STAGES)[number];

const NEAREST_S = 60;
/** The duration of a file that the record of durations leaves out, because it is short. */
const SHORT_S = 1;
const FIRST_TIER = /^tests\/(unit|app|stores|flow)\//;
/** Tests that call every operation, or compare random calls with a model. They find what no test names. */
const SWEEP = /\/(every-|model\.|openapi-responses\/)/;
/** Tests of a page in a browser. */
const BROWSER = /^tests\/full\/(flow\/portal|app\/console)\//;
const seconds: Readonly<Record<string, number>> = timings.files;

/**
 * Returns the test files of each stage: those that import the mutated file, nearest first, and then those that
 * start the room as a process. Each stage after the nearest begins with the broad tests of the room.
 *
 * @param secondsMax the bound on the tests of each later stage, by their recorded durations
 */
export function stagesOf(
  { path, room }: Mutation,
  root: string,
  { importers, files }: { importers: Importers; files: readonly string[] },
  secondsMax: number,
): Readonly<Record<Stage, string[]>> {
  const covering = testsOf(join(root, path), importers)
    .map(([file, distance]) => ({
      file: relative(root, file),
      rank: distance - 2 * sharedWords(path, relative(root, file)),
    }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ file }) => file);
  const starting = files.filter((file) => startsRoom(file, room) && !covering.includes(file));
  const all = [...covering, ...starting];
  const nearest = within(
    NEAREST_S,
    covering.filter((file) => FIRST_TIER.test(file)),
  );
  const others = all
    .filter((file) => !nearest.includes(file))
    .toSorted((a, b) => Number(isBroad(b, path, room)) - Number(isBroad(a, path, room)));
  return {
    nearest,
    "first tier": within(
      secondsMax,
      others.filter((file) => FIRST_TIER.test(file)),
    ),
    "second tier": within(
      secondsMax,
      others.filter((file) => file.startsWith("tests/full/")),
    ),
  };
}

/** Returns how many words of the path of a file are in the path of a test, such as `audit` and `streams`. */
function sharedWords(path: string, test: string): number {
  const words = new Set(test.split(/[/.-]/));
  return path.split(/[/.-]/).filter((word) => word.length > 3 && words.has(word)).length;
}

/** Returns whether a test is the likeliest to find a mutation: the sweeps of a room, and the browser for a page. */
function isBroad(file: string, path: string, room: string): boolean {
  const isOwn = file.includes(`/${room.split("/")[1]}`);
  if (path.endsWith("x") || path.includes("/page/"))
    return BROWSER.test(file) && (isOwn || room === "lib/page");
  return SWEEP.test(file) && (isOwn || file.startsWith("tests/full/flow/"));
}

/** Returns whether a test that does not import the room may start it as a process, judged by its path. */
function startsRoom(file: string, room: string): boolean {
  const [, name = ""] = room.split("/");
  if (file.startsWith("tests/flow/")) return true;
  if (!file.startsWith("tests/full/")) return false;
  if (/flow\/(every-service|hostile)/.test(file)) return true;
  return room.startsWith("lib/")
    ? /flow\/(platform|portal)|app\/console/.test(file)
    : file.includes(`/${name}`);
}

/** Returns the files that take at most this time together, the first ones if not all fit, and at least one. */
function within(secondsMax: number, paths: readonly string[]): string[] {
  let sum = 0;
  return paths.filter((path, index) => {
    const durationS = (seconds[path] ?? SHORT_S * 1000) / 1000;
    if (index > 0 && sum + durationS > secondsMax) return false;
    sum += durationS;
    return true;
  });
}
