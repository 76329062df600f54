import { expect, test } from "bun:test";
import type { Verdict } from "@ostiary/lib/verification";
import type { FindingCode } from "@ostiary/lib/verification/findings";
import { findingsOf, verdictOf, witnessRuleOf } from "../../../app/audit/proof-bed.ts";
import { type ChangeName, nameOfChange, type Path } from "./change-names.ts";
import { type ExportVector, exportVectors, textOf } from "./vectors.ts";

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Yields the paths of all values nested in a JSON value. */
function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (!isRecord(value)) return;
  for (const [name, item] of Object.entries(value)) {
    yield* pathsOf(item, [...path, Array.isArray(value) ? Number(name) : name]);
  }
}

/** Returns changed versions of a value, as an attacker may try. */
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
  return value === null ? [] : [null];
}

/**
 * Returns a copy of `value` with `change` at a path. If `change` is undefined, the copy has nothing at the
 * path.
 */
function changed(value: unknown, path: Path, change: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change;
  if (!isRecord(value)) throw new Error("There is no value at this path.");
  const next = changed(value[name], rest, change);
  if (Array.isArray(value)) {
    return next === undefined ? value.filter((_, index) => index !== name) : value.with(Number(name), next);
  }
  const copy = { ...value, [name]: next };
  if (next === undefined) delete copy[name];
  return copy;
}

/** Returns whether a verifier may accept a change, because the changed field proves nothing about the log. */
function saysNothing(path: Path, value: unknown, change: unknown): boolean {
  const [first] = path;
  // The verifier does not use the keys in the file, because the test passes its own keys.
  if (first === "keys") return true;
  const isList = change === undefined || Array.isArray(change);
  // No proof covers the length of the list of recent checkpoints.
  if (isList && first === "recent_checkpoints" && path.length <= 2) return true;
  // A file with fewer earlier heads is valid, but proves less. The verdict names the days that it proves.
  const isShorter =
    change === undefined || (Array.isArray(change) && Array.isArray(value) && change.length < value.length);
  if (isShorter && first === "heads" && path.length <= 2) return true;
  // A file without a tree is valid, but proves less, as the verdict says.
  return change === undefined && (path.join(".") === "tree" || path.join(".") === "tree.asked");
}

interface Change {
  path: Path;
  /** The new value at the path; undefined if the value is removed. */
  change: unknown;
  /** The changed line. */
  is: unknown;
}

/** Yields all changes of a line that a verifier must detect. */
function* changesOfLine(line: unknown): Generator<Change> {
  for (const path of pathsOf(line)) {
    const value = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), line);
    for (const change of [undefined, ...changesOf(value)])
      if (!saysNothing(path, value, change)) yield { path, change, is: changed(line, path, change) };
  }
}

/** Returns the test vector with a title. */
function vectorOf(wanted: string): ExportVector {
  const found = exportVectors.find(({ title }) => title === wanted);
  if (found === undefined) throw new Error(`There is no vector "${wanted}".`);
  return found;
}

const OF_EVENTS = "a tree: with the checkpoint that was asked for";

const WITNESSED = "witnesses: all of three cosigned the root of the file";

const OF_A_MAP = "a map: the head under four checkpoints";

const REFUSED: Verdict["result"][] = ["altered", "unwitnessed"];

/** The codes of findings that name a line, but no field of it. */
const OF_A_LINE: FindingCode[] = ["not_an_event", "end_unreadable"];

/**
 * Returns how the findings of a verdict differ from the expected ones. Returns null if they do not differ.
 */
function wrongNames(verdict: Verdict, { named, also, mayFollow = false }: ChangeName): string | null {
  const findings = findingsOf(verdict);
  if (!findings.some((finding) => Bun.deepMatch(named, finding)))
    return `does not have ${JSON.stringify(named)}: ${JSON.stringify(findings)}`;
  const others = verdict.faults
    .map(({ finding }) => finding)
    .filter(({ code }) => code !== named.code && !also.includes(code));
  if (others.length > 0) return `has ${JSON.stringify(others)} beside ${named.code}`;
  const [first] = verdict.faults;
  const isEarlier = first?.position != null && Number(named.position) > first.position;
  return isEarlier && !mayFollow ? `begins at ${first.position}: ${JSON.stringify(findings)}` : null;
}

// AU-146, AU-77, AU-197
test.each([OF_EVENTS, OF_A_MAP, "a log with a month that was dropped", WITNESSED])(
  "the verifier detects and locates every changed, removed or added field: %s",
  async (wanted) => {
    const { lines, keys, witnesses } = vectorOf(wanted);
    const given = { keys, witnesses: witnessRuleOf(witnesses) };
    const parsed: unknown[] = lines.map((line) => JSON.parse(line));
    const accepted: string[] = [];
    const misnamed: string[] = [];
    let namedFields = 0;
    for (const [index, was] of parsed.entries()) {
      for (const { path, change, is } of changesOfLine(was)) {
        const edited = parsed.with(index, is).map((line) => JSON.stringify(line));
        const verdict = await verdictOf(textOf(edited), given);
        const name = nameOfChange({ path, line: index + 1, lines: lines.length, was, is });
        const tried = `${index}: ${path.join(".")} = ${JSON.stringify(change)}`;
        if (!REFUSED.includes(verdict.result)) accepted.push(tried);
        const wrong = name === null ? "has no row" : wrongNames(verdict, name);
        if (wrong !== null) misnamed.push(`${tried} ${wrong}`);
        if (name !== null && !OF_A_LINE.includes(name.named.code)) namedFields += 1;
      }
    }
    expect(accepted).toEqual([]);
    expect(misnamed).toEqual([]);
    expect(namedFields).toBeGreaterThan(160);
  },
);

const idOf = (line: string): string => JSON.parse(line).id;
const positionOf = (line: string): number => JSON.parse(line).proof.intent.position;

// AU-146
test("the verifier detects every removed, repeated or moved line, and names the line", async () => {
  const { lines, keys } = vectorOf(OF_EVENTS);
  const end = lines.length - 1;
  for (const [index, line] of lines.slice(0, end).entries()) {
    const [event_id, position] = [idOf(line), positionOf(line)];
    const missing = { code: "entries_missing", from: position, to: position } as const;
    const without = ["head_without_entry"] as const;
    const next = lines[index + 1] ?? "";
    const edits: [string[], ChangeName][] = [
      [lines.toSpliced(index, 1), { named: missing, also: without }],
      [lines.toSpliced(index, 0, line), { named: { code: "event_twice", event_id }, also: ["place_taken"] }],
      [lines.toSpliced(index, 1).concat(line), { named: missing, also: [...without, "line_after_end"] }],
    ];
    if (index + 1 < end)
      edits.push([
        lines.toSpliced(index, 2, next, line),
        { named: { code: "event_out_of_order", event_id }, also: [] },
      ]);
    for (const [edit, name] of edits) {
      const verdict = await verdictOf(textOf(edit), { keys });
      expect([verdict.result, wrongNames(verdict, name)]).toEqual(["altered", null]);
    }
  }
  const last = lines[end] ?? "";
  const ends: [string[], ChangeName][] = [
    [lines.slice(0, end), { named: { code: "cut_off" }, also: [] }],
    [[...lines, last], { named: { code: "line_after_end", line: lines.length + 1 }, also: [] }],
    [[last], { named: { code: "entries_missing", from: 1, to: 7 }, also: ["head_without_entry"] }],
  ];
  for (const [edit, name] of ends) {
    const verdict = await verdictOf(textOf(edit), { keys });
    expect([verdict.result, wrongNames(verdict, name)]).toEqual(["altered", null]);
  }
});

// AU-65, AU-146
test("the verifier names only the foreign line if an export contains a line of another log", async () => {
  const { lines, keys } = vectorOf(OF_EVENTS);
  const [foreign = ""] = vectorOf(OF_A_MAP).lines;
  const { id: event_id, organization_id } = JSON.parse(foreign);
  const named = { code: "event_of_other_log", event_id, owner: `organization:${organization_id}` } as const;
  for (const index of lines.keys()) {
    const verdict = await verdictOf(textOf(lines.toSpliced(index, 0, foreign)), { keys });
    const also = ["beyond_head", "event_out_of_order", "event_added_late", "entry_changed"] as const;
    expect([verdict.result, wrongNames(verdict, { named, also })]).toEqual(["altered", null]);
    expect(new Set(verdict.faults.map((fault) => fault.event_id))).toEqual(new Set([event_id]));
  }
});

// AU-65, AU-146
test("the verifier reports once, and first, that the events and the proof are of different logs", async () => {
  const { lines, keys } = vectorOf(OF_EVENTS);
  const spliced = [...vectorOf(OF_A_MAP).lines.slice(0, -1), lines.at(-1) ?? ""];
  const { result, faults } = await verdictOf(textOf(spliced), { keys });
  expect(result).toBe("altered");
  expect(faults[0]?.finding).toMatchObject({ code: "other_owner", proofOwner: "organization:org" });
  expect(faults.filter(({ finding }) => finding.code === "event_of_other_log")).toEqual([]);
});
