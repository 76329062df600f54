import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { personText } from "@ostiary/identity/fields";
import { type Attack, attacksOn } from "./attacks.ts";
import { type SourcePattern, sourcePatterns } from "./source-patterns.ts";

/**
 * Every pattern of the code, by file. None may take longer than the length of its text allows, whatever the
 * text.
 */
const root = join(import.meta.dir, "../../..");

/** Small steps come first: a search whose time doubles with each character cannot be stopped. */
const LENGTHS = [12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 256, 1_000, 4_000, 16_000];
/** A search that reads each character up to ten times takes at most 2 ms; the square of 16 000 takes 100. */
const HARMLESS_MS = 20;
/**
 * Eight times the length may take eight times as long, and more with garbage collection; its square takes 64.
 */
const GROWTH_MAX = 24;
const TRIES = 3;

const files = (await Array.fromAsync(new Bun.Glob("{apps,lib}/**/*.ts").scan({ cwd: root })))
  .filter((file) => !file.includes("node_modules"))
  .toSorted();

async function patternsByFile(): Promise<[file: string, patterns: SourcePattern[]][]> {
  const found = await Promise.all(
    files.map(async (file): Promise<[string, SourcePattern[]]> => {
      return [file, sourcePatterns(await Bun.file(join(root, file)).text())];
    }),
  );
  const composed = personText(128, { description: "", examples: [] });
  found.push(["apps/identity/fields.ts, composed", [{ source: String(composed.pattern), flags: "" }]]);
  return found.filter(([, patterns]) => patterns.length > 0);
}

/**
 * Returns the work of a search in an attack of `length`, as the best of `tries`: the CPU time of this thread.
 */
function time_ms(pattern: RegExp, { start, unit, end }: Attack, length: number, tries: number): number {
  const text = start + unit.repeat(Math.ceil(length / unit.length)) + end;
  const times = Array.from({ length: tries }, () => {
    const before = process.threadCpuUsage();
    pattern.lastIndex = 0;
    if (pattern.global) for (const _ of text.matchAll(pattern));
    else pattern.exec(text);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

/** Returns the first attack under which a pattern takes too long. */
function weakness(given: SourcePattern): { attack: Attack; length: number; ms: number } | null {
  const pattern = new RegExp(given.source, given.flags);
  for (const attack of attacksOn(given)) {
    for (const length of LENGTHS) {
      if (time_ms(pattern, attack, length, 1) < HARMLESS_MS) continue;
      const ms = time_ms(pattern, attack, length, TRIES);
      const short_ms = time_ms(pattern, attack, length / 8, TRIES);
      if (ms >= HARMLESS_MS && ms > GROWTH_MAX * short_ms) return { attack, length, ms };
    }
  }
  return null;
}

describe("patterns", () => {
  test("are found in the source, also in templates, and differ from divisions", () => {
    const code = [
      "const a = /x[/]\\/y/gi; // /no/",
      "/* /no/ */ const b = [/b/, 6 / 3 / 2];",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
      "const c = `/no/ ${d.replace(/c{1}/g, `${/e/u}`)} /no/`;",
      'const NAME_PATTERN = "^[a-z\\\\d]+$"; const f = { pattern: "^f$" }; const g = "/no/";',
      "return /g/.test(x) ? (/h/) : y / z;",
    ];
    expect(sourcePatterns(code.join("\n")).map(({ source, flags }) => `${source} ${flags}`)).toEqual([
      "x[/]\\/y gi",
      "b ",
      "c{1} g",
      "e u",
      "g ",
      "h ",
      "^[a-z\\d]+$ ",
      "^f$ ",
    ]);
  });

  test("that are slow are noticed", () => {
    for (const source of ["^(a+)+$", "\\s+$", "(a|a)*b"]) {
      const found = weakness({ source, flags: "" });
      if (found === null) throw new Error(`${source} seems harmless.`);
    }
    for (const source of ["^[a-z]+$", "[^\\x21-\\x7e]", '^"[^"]*"$']) {
      expect(weakness({ source, flags: "" })).toBeNull();
    }
  });

  test("take no longer than the text's length allows", async () => {
    const found = await patternsByFile();
    expect(found.flatMap(([, patterns]) => patterns).length).toBeGreaterThan(80);
    for (const [file, patterns] of found) {
      for (const pattern of patterns)
        expect([file, pattern, weakness(pattern)]).toEqual([file, pattern, null]);
    }
  }, 120_000);
});
