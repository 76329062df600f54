/** Tests of the sentences for the findings of a verification, in each language of the page. */
import { describe, expect, test } from "bun:test";
import type { Finding, FindingCode, FindingOf, NamedEntry } from "@ostiary/lib/verification/findings";
import { de } from "../../../apps/portal/page/texts/de.ts";
import { en } from "../../../apps/portal/page/texts/en.ts";

const LANGUAGES = { en, de };
const [POSITION, CHECKPOINT, SIZE, LINE] = [1_201, 1_302, 1_403, 1_504];
const EVENT = "01K9ZZZZZZZZZZZZZZZZZZZZZZ";
const [OWNER, OTHER] = ["organization:one", "organization:two"];
const [MONTH, BEFORE] = ["2026-03", "2026-04-01T00:00:00.000Z"];

const ENTRIES: NamedEntry[] = [
  { entry: "intent", event_id: EVENT },
  { entry: "outcome", event_id: EVENT },
  { entry: "retention", month: MONTH },
  { entry: "place", position: 1_605 },
  { entry: "start" },
];
const ROOTS = (["own", "kept", "kept_export", "cosigned"] as const).map((root) => ({ root }));
const AT = { position: POSITION, checkpoint: CHECKPOINT };
const RANGES = [
  { from: 1_807, to: 1_808 },
  { from: POSITION, to: POSITION },
];
const KEPT = { size: SIZE, newest: CHECKPOINT };

/** Example values for each finding code. They produce each variant of the code's sentence once. */
const VALUES: { readonly [C in FindingCode]: readonly Omit<FindingOf<C>, "code">[] } = {
  beyond_head: [{ last: POSITION, head: SIZE }],
  other_end: ENTRIES.map((entry) => ({ entry })),
  entry_changed: ENTRIES.map((entry) => ({ entry, position: POSITION })),
  place_taken: ENTRIES.map((entry) => ({ entry, position: POSITION })),
  entries_missing: RANGES.flatMap((range) =>
    (["before", "after"] as const).flatMap((side) => ENTRIES.map((entry) => ({ ...range, side, entry }))),
  ),
  not_an_event: [{ line: LINE }],
  other_owner: [{ eventsOwner: OWNER, proofOwner: OTHER }],
  event_without_place: [{ event_id: EVENT }],
  outcome_without_place: [{ event_id: EVENT }],
  event_twice: [{ event_id: EVENT }],
  event_out_of_order: [{ event_id: EVENT }],
  event_of_other_log: [{ event_id: EVENT, owner: OTHER }],
  event_added_late: [{ event_id: EVENT }],
  declaration_unsound: (
    ["no_time", "after_checkpoint", "before_month_end", "places_out_of_order", "places_after_it"] as const
  ).map((flaw) => ({ month: MONTH, position: POSITION, flaw })),
  claim_not_month_start: [{ before: BEFORE }],
  claim_after_checkpoint: [{ before: BEFORE }],
  claim_behind_newer_events: RANGES,
  dropped_event_shown: [{ before: BEFORE }],
  head_not_held: [{ checkpoint: CHECKPOINT }, { checkpoint: null }],
  checkpoint_not_signed: (["unsigned", "unknown_key", "wrong_signature", "other_content"] as const).map(
    (problem) => ({ checkpoint: CHECKPOINT, problem }),
  ),
  two_checkpoints: [{ checkpoint: CHECKPOINT }],
  first_names_previous: [{}],
  previous_differs: [{ checkpoint: CHECKPOINT, previous: SIZE }],
  head_out_of_order: [{ checkpoint: CHECKPOINT }],
  head_went_back: [{ ...AT, lastPosition: SIZE, lastCheckpoint: LINE }],
  head_not_in_map: [AT],
  head_not_reached: [AT],
  head_rewritten: [AT],
  head_without_entry: [AT],
  root_not_a_note: ROOTS,
  root_of_unknown_key: ROOTS,
  root_with_wrong_signature: ROOTS,
  not_in_tree: [{ checkpoint: CHECKPOINT, size: SIZE }],
  tree_begins_otherwise: [{ size: SIZE, asked: CHECKPOINT }],
  two_trees: [{ size: SIZE }],
  cosigned_root_of_other_log: [{ cosignedOrigin: "log.example.com/a", origin: "log.example.com/b" }],
  tree_not_as_cosigned: [{ size: SIZE, cosigned: CHECKPOINT }],
  cosignature_wrong: [{ witness: "witness.example.com/w1" }],
  not_cosigned: [{}],
  cosigned_root_older: [{ size: SIZE, checkpoint: CHECKPOINT }],
  cosigned_by_few: [{ count: 2_011, total: 2_013, quorum: 2_012 }],
  witnesses_of_other_log: [{ origin: "log.example.com/a", expected: "log.example.com/b" }],
  line_not_i_json: [
    { line: LINE, violation: null },
    { line: LINE, violation: { rule: "repeated_name", shown: '"a name"' } },
    { line: LINE, violation: { rule: "inexact_number", shown: '"0.10"' } },
  ],
  line_after_end: [{ line: LINE }],
  end_unreadable: [{ line: LINE }],
  cut_off: [{}],
  kept_export_rewritten: [{ position: POSITION }],
  kept_export_not_reached: [{ position: POSITION }],
  empty_log: [{}],
  kept_checkpoint_newer: [
    { checkpoint: CHECKPOINT, newest: SIZE },
    { checkpoint: CHECKPOINT, newest: null },
  ],
  kept_checkpoint_unconnected: [{ checkpoint: CHECKPOINT, newest: SIZE, missing: LINE }],
  no_tree: [{}],
  kept_root_newer: [KEPT],
  kept_root_unconnected: [KEPT],
  kept_export_of_other_log: [{ keptOwner: OTHER, owner: OWNER }],
  kept_export_dropped: [{ position: POSITION }],
  kept_export_newer: [{ position: POSITION }],
  dropped_late: RANGES.map((range) => ({ ...range, month: MONTH })),
  dropped_undeclared: RANGES.map((range) => ({ ...range, before: BEFORE })),
  cut: [
    { checkpoint: CHECKPOINT, old: false },
    { checkpoint: CHECKPOINT, old: true },
  ],
  other_history: [{}],
  tree: [{ checkpoint: CHECKPOINT }],
  author: [{ months: false }, { months: true }],
  days: [
    { count: 1, first: "2026-01-02", last: "2026-01-02" },
    { count: 1_909, first: "2026-01-02", last: "2026-01-09" },
  ],
  dropped: [{ entries: SIZE }],
};

const CODES = Object.keys(VALUES).filter((name): name is FindingCode => Object.hasOwn(VALUES, name));

function findingsOf(code: FindingCode): Finding[] {
  return VALUES[code].map((values) => ({ code, ...values })).filter(isFinding);
}

/** Narrows the type of `value`. The type of `VALUES` guarantees that the values fit their code. */
function isFinding(value: { code: FindingCode }): value is Finding {
  return Object.hasOwn(VALUES, value.code);
}

/** Returns the names, ids, times and numbers in a finding. The sentence must contain them unchanged. */
function shownValues(value: unknown, name = ""): string[] {
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, each]) => shownValues(each, key));
  }
  const isChoice = ["code", "entry", "flaw", "side", "root", "problem", "rule"].includes(name);
  const isShown = !isChoice && (typeof value === "string" || (typeof value === "number" && value !== 1));
  return isShown ? [String(value)] : [];
}

// PT-47
describe.each(Object.entries(LANGUAGES))("in %s", (_language, { audit }) => {
  const { finding: say } = audit.verify;

  test.each(CODES)("%s has a sentence with each of its values", (code) => {
    const findings = findingsOf(code);
    for (const finding of findings) {
      const sentence = say(finding);
      expect(sentence).toMatch(/^\p{Lu}.*\.$/u);
      expect(sentence).not.toMatch(/undefined|null|\[object|--/);
      for (const value of shownValues(finding)) expect(sentence).toContain(value);
    }
    expect(new Set(findings.map(say)).size).toBe(findings.length);
  });

  test("no two codes have the same sentence", () => {
    const sentences = CODES.flatMap((code) => findingsOf(code).map(say));
    expect(new Set(sentences).size).toBe(sentences.length);
  });
});

// PT-47
test("no German sentence equals the English one", () => {
  for (const finding of CODES.flatMap(findingsOf)) {
    expect(de.audit.verify.finding(finding)).not.toBe(en.audit.verify.finding(finding));
  }
});
