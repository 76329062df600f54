import { describe, expect, test } from "bun:test";
import { isRecord } from "@ostiary/lib/domain/json";
import type { Finding, FindingCode, Verdict } from "@ostiary/lib/verification";
import { type Change, fieldChanges, lineChanges } from "../../support/audit/proof-changes.ts";
import { givenOf, goodExports, PERSON, twoDays } from "../../support/audit/proof-exports.ts";
import { OWNER } from "../../support/audit/proof-log.ts";
import { verify } from "../../support/audit/verify-lines.ts";

const exports = await goodExports();

/** The codes that name a change of each field of the last line. */
const CODES: Readonly<Record<string, readonly FindingCode[]>> = {
  format: ["format_unknown"],
  head: ["head_not_in_map", "head_differs", "entries_missing", "other_owner"],
  map: ["head_not_in_map"],
  leaf: ["leaf_not_in_tree", "head_not_in_map", "no_signed_root"],
  path: ["leaf_not_in_tree", "root_unreadable"],
  note: ["root_unreadable", "root_not_signed", "no_signed_root"],
  cosigned: ["root_unreadable", "root_not_signed", "cosignature_wrong", "not_cosigned", "trees_differ"],
  heads: [
    "root_unreadable",
    "heads_out_of_order",
    "earlier_head_wrong",
    "head_not_in_map",
    "leaf_not_in_tree",
    "trees_differ",
    "kept_root_not_connected",
    "drop_not_proved",
  ],
  retention: [
    "declaration_wrong",
    "drop_not_proved",
    "entries_missing",
    "entry_changed",
    "position_taken",
    "head_differs",
    "entries_given_up",
  ],
  keys: ["root_not_signed", "root_unreadable"],
};

/** Returns the findings that a change added to those of the unchanged export. */
function addedBy(verdict: Verdict, unchanged: Verdict): Finding[] {
  const known = new Set(unchanged.findings.map((finding) => JSON.stringify(finding)));
  return verdict.findings.filter((finding) => !known.has(JSON.stringify(finding)));
}

/** Returns whether one of the findings names the changed line, event or part of the last line. */
function isNamed(findings: readonly Finding[], { line, path, lines }: Change, original: string): boolean {
  const event: unknown = JSON.parse(original);
  const id = isRecord(event) ? event.id : undefined;
  const changed: unknown = JSON.parse(lines[line] ?? "null");
  const newId = isRecord(changed) ? changed.id : undefined;
  if (findings.some(({ place }) => place.line === line + 1)) return true;
  if (findings.some(({ code }) => code === "entries_given_up")) return true;
  const [field] = path ?? [];
  if (id === undefined) return findings.some(({ code }) => CODES[field ?? ""]?.includes(code));
  return findings.some(
    ({ place: { event_id } }) => event_id !== undefined && (event_id === id || event_id === newId),
  );
}

/** Heads of days, and a second key that signed, are further evidence: an export is complete without them. */
function isLessEvidence({ path, what }: Change): boolean {
  return (
    (path?.[0] === "heads" || path?.[0] === "keys") && path.length === 2 && what.endsWith("item removed")
  );
}

describe.each(exports)("each change of $title", (good) => {
  test("of a field gets the right verdict, which names it", async () => {
    const given = await givenOf(good);
    const unchanged = await verify(good.lines, given);
    for (const change of fieldChanges(good.lines)) {
      const verdict = await verify(change.lines, given);
      const added = addedBy(verdict, unchanged);
      const summary = { change: change.what, result: verdict.result, added };
      if (isLessEvidence(change) && verdict.result === unchanged.result) continue;
      expect(summary).not.toMatchObject({ result: "complete" });
      const isUnsigned = unchanged.root === null && change.path?.includes("leaf") === true;
      if (isUnsigned || isNamed(added, change, good.lines[change.line] ?? "")) continue;
      expect({ ...summary, named: false }).toMatchObject({ named: true });
    }
  });

  test("of its lines makes it altered", async () => {
    const given = await givenOf(good);
    for (const change of lineChanges(good.lines)) {
      const { result, findings } = await verify(change.lines, given);
      const isSame = change.lines.join() === good.lines.join();
      expect({ change: change.what, result, findings }).toMatchObject({
        result: isSame ? good.result : "altered",
      });
    }
  });
});

test("the exports have over 500 changes", () => {
  const counts = exports.map(({ lines }) => [...fieldChanges(lines), ...lineChanges(lines)].length);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(500);
});

describe("a line of another export", () => {
  test("makes an export altered, wherever it stands", async () => {
    const [good] = exports;
    if (good === undefined) throw new Error("no export");
    const given = await givenOf(good);
    for (const owner of ["organization:zenith", PERSON]) {
      const strangers = await twoDays().export(owner);
      for (const stranger of strangers) {
        for (let at = 0; at <= good.lines.length; at++) {
          const { result } = await verify(good.lines.toSpliced(at, 0, stranger), given);
          expect({ stranger, at, result }).toMatchObject({ result: "altered" });
          if (at === good.lines.length) continue;
          const replaced = await verify(good.lines.with(at, stranger), given);
          expect({ stranger, at, replaced: replaced.result }).toMatchObject({ replaced: "altered" });
        }
      }
    }
    expect(good.owner).toBe(OWNER);
  });
});
