/** Checks that every regular expression in the sources takes linear time, even on hostile texts. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { personText } from "../../../apps/identity/fields.ts";
import { type SourcePattern, textsIn } from "../../support/documents/source-code.ts";
import { ROOT } from "../../support/root.ts";
import { type Attack, attacksOn } from "./attacks.ts";

/** Matches the string of a field named `pattern`, or of a constant whose name marks it as a pattern. */
const PATTERN_TEXT = /\b(?:pattern:|[A-Z_]*PATTERN =|SLUG =)\s*("(?:[^"\\]|\\.)*")/g;

/** The lengths to try. They start small, because a search that takes exponential time cannot be stopped. */
const LENGTHS = [12, 24, 48, 96, 256, 2_000, 8_000];
/** Lengths between those of `LENGTHS`, which are tried after a search that was not quick. */
const SMALL_STEPS = [14, 16, 18, 20, 22, 28, 32, 40, 64, 128, 512, 1_000, 4_000];
/**
 * A search below this time takes at most 10 000 steps. Even with exponential growth, twice the length then
 * takes 10^8 steps, which is less than a second.
 */
const QUICK_MS = 0.02;
const LONG = 2_000;
/**
 * If a search in `LONG` characters stays below this time, the longest text is not tried. Even with cubic
 * growth, that text would take less than `HARMLESS_MS`. Quartic growth would take 10^13 steps for `LONG`.
 */
const LONG_QUICK_MS = 0.03;
/** A search below this time is harmless. For 8 000 characters, linear time is 1 ms, quadratic time 25 ms. */
const HARMLESS_MS = 2;
/**
 * The maximum growth of the time for eight times the length. Linear time grows by 8, or more with garbage
 * collection. Quadratic time grows by 64.
 */
const GROWTH_MAX = 24;
const TRIES = 3;

const files = (await Array.fromAsync(new Bun.Glob("{apps,lib}/**/*.ts").scan({ cwd: ROOT })))
  .filter((file) => !file.includes("node_modules"))
  .toSorted();

/** Returns the regular expressions in TypeScript code, and the strings that are patterns. */
function patternsIn(code: string): SourcePattern[] {
  const texts = Array.from(code.matchAll(PATTERN_TEXT), ([, text = '""']) => ({
    source: String(JSON.parse(text)),
    flags: "",
  }));
  return [...textsIn(".ts", code).patterns, ...texts];
}

async function patternsByFile(): Promise<[file: string, patterns: SourcePattern[]][]> {
  const found = await Promise.all(
    files.map(async (file): Promise<[string, SourcePattern[]]> => {
      return [file, patternsIn(await Bun.file(join(ROOT, file)).text())];
    }),
  );
  const composed = personText(128, { description: "", examples: [] });
  found.push(["apps/identity/fields.ts, composed", [{ source: String(composed.pattern), flags: "" }]]);
  const seen = new Set<string>();
  const isNew = ({ source, flags }: SourcePattern) => seen.size < seen.add(`/${source}/${flags}`).size;
  return found
    .map(([file, patterns]): [string, SourcePattern[]] => [file, patterns.filter(isNew)])
    .filter(([, patterns]) => patterns.length > 0);
}

function textOf({ start, unit, end }: Attack, length: number): string {
  return start + unit.repeat(Math.ceil(length / unit.length)) + end;
}

function search(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (pattern.global) for (const _ of text.matchAll(pattern));
  else pattern.exec(text);
}

/** Returns the elapsed time of one search. It is at least the CPU time, and cheaper to measure. */
function elapsedMs(pattern: RegExp, attack: Attack, length: number): number {
  const text = textOf(attack, length);
  const before = performance.now();
  search(pattern, text);
  return performance.now() - before;
}

/** Returns the CPU time of a search in an attack of `length`: the minimum of `TRIES` measurements. */
function workMs(pattern: RegExp, attack: Attack, length: number): number {
  const text = textOf(attack, length);
  const times = Array.from({ length: TRIES }, () => {
    const before = process.threadCpuUsage();
    search(pattern, text);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

/**
 * Returns the lengths to try, in order. Adds small steps after a search that was not quick, and stops after
 * `LONG` if the search of that length was quick.
 */
function* lengths(lastMs: () => number): Generator<number, void, void> {
  let last = 0;
  for (const length of LENGTHS) {
    if (lastMs() >= QUICK_MS) yield* SMALL_STEPS.filter((step) => step > last && step < length);
    yield length;
    if (length === LONG && lastMs() < LONG_QUICK_MS) return;
    last = length;
  }
}

/**
 * Returns the CPU time for an attack of this length if it grows faster than linearly, and null otherwise. A
 * long text is compared with an even longer one, because one garbage collection can double the time of a text
 * that takes two milliseconds. For a short text, an even longer one could take forever.
 */
function excess(pattern: RegExp, attack: Attack, length: number): { length: number; ms: number } | null {
  const ms = workMs(pattern, attack, length);
  if (ms < HARMLESS_MS) return null;
  const [shortMs, longMs] =
    length < LONG ? [workMs(pattern, attack, length / 8), ms] : [ms, workMs(pattern, attack, length * 8)];
  return longMs > GROWTH_MAX * shortMs ? { length, ms } : null;
}

/** Returns the first attack on which a pattern takes too long, or null if there is none. */
function weakness(given: SourcePattern): { attack: Attack; length: number; ms: number } | null {
  const pattern = new RegExp(given.source, given.flags);
  for (const attack of attacksOn(given)) {
    let lastMs = 0;
    for (const length of lengths(() => lastMs)) {
      lastMs = elapsedMs(pattern, attack, length);
      const found = lastMs < HARMLESS_MS ? null : excess(pattern, attack, length);
      if (found !== null) return { attack, ...found };
    }
  }
  return null;
}

describe("patterns", () => {
  test("in the sources take linear time", async () => {
    const found = await patternsByFile();
    expect(found.flatMap(([, patterns]) => patterns).length).toBeGreaterThan(80);
    for (const [file, patterns] of found) {
      for (const pattern of patterns)
        expect([file, pattern, weakness(pattern)]).toEqual([file, pattern, null]);
    }
  }, 120_000);
});
