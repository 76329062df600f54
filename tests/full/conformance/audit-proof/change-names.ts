import {
  type ProofEnd,
  type ProvenEvent,
  proofEndSchema,
  provenOrganizationEventSchema,
} from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import type { Checkpoint } from "@ostiary/lib/domain/proof";
import { isUlid } from "@ostiary/lib/domain/schemas";
import type { FindingCode } from "@ostiary/lib/verification/findings";

export type Path = readonly (string | number)[];

/** A change of one line of an export. `was` is the original line, `is` the changed one. */
export interface ChangedLine {
  path: Path;
  /** The number of the changed line, from 1. */
  line: number;
  /** The number of lines in the export. */
  lines: number;
  was: unknown;
  is: unknown;
}

/** The findings that a verifier must report for a change. */
export interface ChangeName {
  /** A finding that the verdict must have. Fields that are missing here may have any value. */
  named: { code: FindingCode } & Record<string, unknown>;
  /** The codes of other findings that the verdict may have as consequences of the change. */
  also: readonly FindingCode[];
  /** Whether the verdict may have a finding at a lower position than `named`. */
  mayFollow?: boolean;
}

/** A changed line that still fits its schema. `at` returns the array index at a level of the changed path. */
interface Changed<Line> {
  was: Line;
  is: Line;
  field: string;
  at: (level: number) => number;
}
type NameOf<Line> = (change: Changed<Line>) => ChangeName;

/**
 * Returns the findings that a verifier must report for a change. Returns null if no table has the changed
 * field.
 */
export function nameOfChange({ path, line, lines, was, is }: ChangedLine): ChangeName | null {
  const isEvent = line < lines;
  const pattern = path.map((step) => (typeof step === "number" ? "*" : step)).join(".");
  const of = { field: String(path.at(-1)), at: (level: number) => Number(path[level]) };
  if (isEvent && isEventLine(was) && isEventLine(is))
    return rowOf(EVENT_FIELDS, pattern)?.({ ...of, was, is }) ?? null;
  if (isEvent) return { named: { code: "not_an_event", line }, also: MISSING };
  if (isEndLine(was) && isEndLine(is)) return rowOf(END_FIELDS, pattern)?.({ ...of, was, is }) ?? null;
  const code = isRecord(is) && "head" in is ? "end_unreadable" : "not_an_event";
  return { named: { code, line }, also: ["cut_off"] };
}

function isEventLine(value: unknown): value is ProvenEvent {
  return fits(provenOrganizationEventSchema, value) && isUlid(value.id);
}

function isEndLine(value: unknown): value is ProofEnd {
  return fits(proofEndSchema, value);
}

/** Returns the row of a field, or otherwise the row of the innermost field around it. */
function rowOf<Line>(
  rows: Readonly<Record<string, NameOf<Line>>>,
  pattern: string,
): NameOf<Line> | undefined {
  const parts = pattern.split(".");
  for (let length = parts.length; length > 0; length--) {
    const row = rows[parts.slice(0, length).join(".")];
    if (row !== undefined) return row;
  }
  return undefined;
}

/** The codes of findings that can be consequences of a missing entry. */
const MISSING = ["entries_missing", "head_without_entry"] as const;

/** The codes of findings that can be consequences of an entry with another entry's position. */
const MOVED = [
  ...MISSING,
  "place_taken",
  "beyond_head",
  "other_end",
  "entry_changed",
  "head_rewritten",
] as const;

type Half = "intent" | "outcome";

const positionOf = ({ proof }: ProvenEvent, half: Half) => proof[half]?.position;

const changedIn =
  (half: Half, ...also: FindingCode[]): NameOf<ProvenEvent> =>
  ({ is }) => ({
    named: { code: "entry_changed", entry: { entry: half, event_id: is.id }, position: positionOf(is, half) },
    also,
  });

const movedIn =
  (half: Half): NameOf<ProvenEvent> =>
  ({ was }) => ({
    named: { code: "entries_missing", from: positionOf(was, half), to: positionOf(was, half) },
    also: MOVED,
  });

/** The expected findings for a change of an event, by the changed field. */
const EVENT_FIELDS: Readonly<Record<string, NameOf<ProvenEvent>>> = {
  id: changedIn("intent", "event_out_of_order"),
  occurred_at: changedIn("intent", "dropped_event_shown"),
  request_id: changedIn("intent"),
  organization_id: ({ is }) => ({
    named: { code: "event_of_other_log", event_id: is.id, owner: `organization:${is.organization_id ?? ""}` },
    also: ["entry_changed"],
  }),
  actor: changedIn("intent"),
  service: changedIn("intent"),
  method: changedIn("intent"),
  route: changedIn("intent"),
  params: changedIn("intent"),
  ip: changedIn("intent"),
  user_agent: changedIn("intent"),
  status: changedIn("outcome"),
  details: changedIn("outcome"),
  created_id: changedIn("outcome"),
  "proof.intent": ({ is }) => ({ named: { code: "event_without_place", event_id: is.id }, also: MISSING }),
  "proof.intent.position": movedIn("intent"),
  "proof.intent.salt": changedIn("intent"),
  "proof.intent.chain": changedIn("intent", "other_end", "head_rewritten"),
  "proof.outcome": ({ is }) => ({ named: { code: "outcome_without_place", event_id: is.id }, also: MISSING }),
  "proof.outcome.position": movedIn("outcome"),
  "proof.outcome.salt": changedIn("outcome"),
  "proof.outcome.chain": changedIn("outcome", "other_end", "head_rewritten"),
};

/** The codes of findings that can be consequences of a changed checkpoint. */
const OTHER_CHECKPOINT: readonly FindingCode[] = [
  "not_in_tree",
  "tree_begins_otherwise",
  "two_checkpoints",
  "previous_differs",
  "first_names_previous",
  "head_out_of_order",
];

const unsigned =
  (
    checkpointOf: (change: Changed<ProofEnd>) => Checkpoint | null | undefined,
    also: readonly FindingCode[] = OTHER_CHECKPOINT,
  ): NameOf<ProofEnd> =>
  (change) => {
    const checkpoint = checkpointOf(change);
    const ofText = checkpoint?.jws === null ? "unsigned" : "wrong_signature";
    const problem = change.field === "jws" ? ofText : "other_content";
    return { named: { code: "checkpoint_not_signed", checkpoint: checkpoint?.number, problem }, also };
  };

const own = ({ is }: Changed<ProofEnd>) => is.checkpoint;
const asked = ({ is }: Changed<ProofEnd>) => is.tree?.asked?.checkpoint;
const recent = ({ is, at }: Changed<ProofEnd>) => is.recent_checkpoints[at(1)];
const earlier = ({ is, at }: Changed<ProofEnd>) => is.heads?.[at(1)];

const notHeld =
  (...also: FindingCode[]): NameOf<ProofEnd> =>
  ({ is }) => ({ named: { code: "head_not_held", checkpoint: is.checkpoint?.number ?? null }, also });

const notInMap: NameOf<ProofEnd> = (change) => {
  const head = earlier(change);
  const [position, checkpoint] = [head?.position, head?.checkpoint.number];
  return { named: { code: "head_not_in_map", position, checkpoint }, also: [] };
};

const notInTree =
  (checkpointOf: (change: Changed<ProofEnd>) => Checkpoint | null | undefined): NameOf<ProofEnd> =>
  (change) => ({ named: { code: "not_in_tree", checkpoint: checkpointOf(change)?.number }, also: [] });

const beginsOtherwise: NameOf<ProofEnd> = (change) => ({
  named: { code: "tree_begins_otherwise", asked: asked(change)?.number },
  also: [],
});

const rootOf = (root: "own" | "cosigned", note = ""): ChangeName => {
  const isNote = note.endsWith("\n");
  return { named: { code: isNote ? "root_of_unknown_key" : "root_not_a_note", root }, also: [] };
};

interface Placed {
  position: number;
}

/** Returns the expected findings for a list of entries that became shorter or longer. */
function listName(was: readonly Placed[], is: readonly Placed[], also: readonly FindingCode[]): ChangeName {
  const missing = was.filter(({ position }) => is.every((entry) => entry.position !== position));
  const [from, to] = [missing.at(0)?.position, missing.at(-1)?.position];
  if (from !== undefined) return { named: { code: "entries_missing", from, to }, also, mayFollow: true };
  return { named: { code: "place_taken", position: is.at(-1)?.position }, also };
}

const retentionChanged =
  (...also: FindingCode[]): NameOf<ProofEnd> =>
  ({ is, at }) => {
    const { month, position } = is.retention?.[at(1)] ?? {};
    const entry = { entry: "retention", month };
    return { named: { code: "entry_changed", entry, position }, also, mayFollow: true };
  };

const retentionMoved: NameOf<ProofEnd> = ({ was, at }) => {
  const position = was.retention?.[at(1)]?.position;
  const also: FindingCode[] = [...MOVED, "declaration_unsound"];
  return { named: { code: "entries_missing", from: position, to: position }, also };
};

/** The codes of findings that can be consequences of a changed time of the checkpoint. */
const OTHER_TIME: readonly FindingCode[] = [...MISSING, "declaration_unsound"];

/** The expected findings for a change of the export's last line, by the changed field. */
const END_FIELDS: Readonly<Record<string, NameOf<ProofEnd>>> = {
  "head.owner": ({ is }) => ({
    named: { code: "other_owner", proofOwner: is.head.owner },
    also: ["head_not_held", "head_not_in_map", "entry_changed"],
  }),
  "head.position": notHeld("entries_missing", "beyond_head"),
  "head.chain": notHeld("other_end"),
  checkpoint: notHeld("head_out_of_order", ...OTHER_TIME),
  "checkpoint.number": unsigned(own),
  "checkpoint.sealed_at": unsigned(own, OTHER_TIME),
  "checkpoint.previous": unsigned(own, ["previous_differs", "first_names_previous"]),
  "checkpoint.map": unsigned(own, ["head_not_held"]),
  "checkpoint.heads": unsigned(own, ["head_not_held"]),
  "checkpoint.jws": unsigned(own),
  map: notHeld(),
  inclusion: notHeld(),
  heads: () => ({ named: { code: "head_out_of_order" }, also: ["head_went_back"] }),
  "heads.*.checkpoint": unsigned((change) => earlier(change)?.checkpoint),
  "heads.*.checkpoint.sealed_at": unsigned((change) => earlier(change)?.checkpoint, []),
  "heads.*.checkpoint.map": unsigned((change) => earlier(change)?.checkpoint, ["head_not_in_map"]),
  "heads.*.position": notInMap,
  "heads.*.chain": notInMap,
  "heads.*.map": notInMap,
  "heads.*.path": notInTree((change) => earlier(change)?.checkpoint),
  "tree.note": ({ is }) => rootOf("own", is.tree?.note),
  "tree.path": notInTree(own),
  "tree.asked.checkpoint": unsigned(asked),
  "tree.asked.checkpoint.sealed_at": unsigned(asked, []),
  "tree.asked.checkpoint.map": unsigned(asked, []),
  "tree.asked.path": notInTree(asked),
  "tree.asked.root": beginsOtherwise,
  "tree.asked.consistency": beginsOtherwise,
  "tree.cosigned": () => ({ named: { code: "not_cosigned" }, also: [] }),
  "tree.cosigned.note": ({ is }) => rootOf("cosigned", is.tree?.cosigned?.note),
  "recent_checkpoints.*": unsigned(recent),
  "recent_checkpoints.*.sealed_at": unsigned(recent, []),
  "recent_checkpoints.*.map": unsigned(recent, []),
  "recent_checkpoints.*.heads": unsigned(recent, []),
  retention: ({ was, is }) => listName(was.retention ?? [], is.retention ?? [], MISSING),
  "retention.*.declared_at": retentionChanged("declaration_unsound", ...MISSING),
  "retention.*.ranges": retentionChanged("declaration_unsound", "head_rewritten", ...MISSING),
  "retention.*.position": retentionMoved,
  "retention.*.salt": retentionChanged(),
  "retention.*.chain": retentionChanged("head_rewritten"),
};
