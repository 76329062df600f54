import { expect, test } from "bun:test";
import { join } from "node:path";
import type { SigningJwk } from "@ostiary/lib/domain/proof";
import { NOTHING_KEPT, verify, type WitnessVector, witnessRuleOf } from "../../app/audit/proof-bed.ts";

const vectorsOf = async (name: string): Promise<ExportVector[]> =>
  (await Bun.file(join(import.meta.dir, name)).json()).exports;
const vectors = [...(await vectorsOf("vectors.json")), ...(await vectorsOf("witness-vectors.json"))];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

type Path = readonly (string | number)[];

/** Yields the path of every value within a value. */
function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (!isRecord(value)) return;
  for (const [name, item] of Object.entries(value)) {
    yield* pathsOf(item, [...path, Array.isArray(value) ? Number(name) : name]);
  }
}

/** Returns the changes of a value that somebody may try. */
function changesOf(value: unknown): unknown[] {
  if (typeof value === "number") return [value + 1, value - 1, String(value)];
  if (typeof value === "boolean") return [!value];
  if (typeof value === "string") {
    const flipped = (value.startsWith("0") ? "1" : "0") + value.slice(1);
    return [flipped, `${value}0`, value.slice(1), "", null].filter((change) => change !== value);
  }
  if (Array.isArray(value)) {
    return [value.slice(1), [...value, ...value.slice(0, 1)], value.toReversed()].filter(
      (change) => !Bun.deepEquals(change, value),
    );
  }
  return [];
}

/** Returns a copy of a value with another value at a path; undefined removes it. */
function changed(value: unknown, path: Path, change: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change;
  if (!isRecord(value)) throw new Error("The path leads nowhere.");
  const next = changed(value[name], rest, change);
  if (Array.isArray(value)) {
    return next === undefined ? value.filter((_, index) => index !== name) : value.with(Number(name), next);
  }
  const copy = { ...value, [name]: next };
  if (next === undefined) delete copy[name];
  return copy;
}

/** Whether a changed value is still what was proved: fields that say nothing about the log. */
function saysNothing(path: Path, change: unknown): boolean {
  const [first] = path;
  // the keys in the file are not used when the reader gives keys, and no proof covers the list of recent checkpoints
  if (first === "keys") return true;
  const isShorter = change === undefined || Array.isArray(change);
  // fewer earlier heads show less; the verdict names the days
  if (isShorter && (first === "recent_checkpoints" || first === "heads") && path.length <= 2) return true;
  // the verdict says that the file has no tree, and a kept copy that nothing connects is left open
  return change === undefined && (path.join(".") === "tree" || path.join(".") === "tree.asked");
}

interface ExportVector {
  title: string;
  lines: string[];
  witnesses?: WitnessVector | null;
  keys: SigningJwk[];
}

/** Returns the export of this title. */
function vectorOf(wanted: string): ExportVector {
  const found = vectors.find(({ title }) => title === wanted);
  if (found === undefined) throw new Error(`There is no vector "${wanted}".`);
  return found;
}

const OF_EVENTS = "a tree: with the checkpoint that was asked for";

const WITNESSED = "witnesses: all of three cosigned the root of the file";

// AU-146, AU-77, AU-132, AU-197
test.each([OF_EVENTS, "statements: a month and its correction", WITNESSED])(
  "every change of a field of an export is refused, and no field can be removed or added: %s",
  async (wanted) => {
    const { lines, keys, witnesses } = vectorOf(wanted);
    const rule = witnessRuleOf(witnesses);
    const parsed: unknown[] = lines.map((line) => JSON.parse(line));
    const accepted: string[] = [];
    let tried = 0;
    for (const [index, line] of parsed.entries()) {
      for (const path of pathsOf(line)) {
        const value = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), line);
        for (const change of [undefined, ...changesOf(value)]) {
          if (saysNothing(path, change)) continue;
          tried += 1;
          const edited = parsed.with(index, changed(line, path, change));
          const text = edited.map((each) => `${JSON.stringify(each)}\n`).join("");
          const { result } = await verify(text, keys, NOTHING_KEPT, rule);
          if (result !== "altered" && result !== "unwitnessed")
            accepted.push(`${index}: ${path.join(".")} = ${JSON.stringify(change)}`);
        }
      }
    }
    expect(accepted).toEqual([]);
    expect(tried).toBeGreaterThan(500);
  },
);

// AU-146
test("no line can be removed, repeated or moved", async () => {
  const { lines, keys } = vectorOf(OF_EVENTS);
  const text = (edited: readonly string[]) => edited.map((line) => `${line}\n`).join("");
  for (const index of lines.keys()) {
    const line = lines[index] ?? "";
    const edits = [
      lines.toSpliced(index, 1),
      lines.toSpliced(index, 0, line),
      lines.toSpliced(index, 1).concat(line),
    ];
    for (const edit of edits) {
      if (Bun.deepEquals(edit, lines)) continue;
      expect((await verify(text(edit), keys)).result).toBe("altered");
    }
  }
});
