import type { IJsonViolation } from "../domain/json/index.ts";
import type { CheckpointProblem } from "../domain/proof/index.ts";

/**
 * The findings of a verification: codes with values. The sentences are in other files, one for each language
 * or surface.
 */

/** An entry of a chain, or a position whose entry the export does not show. */
export type NamedEntry =
  | { entry: "intent" | "outcome"; event_id: string }
  | { entry: "retention"; month: string }
  | { entry: "place"; position: number }
  | { entry: "start" };

/** The reason why a declaration of dropped months is not plausible. */
export type DeclarationFlaw =
  | "no_time"
  | "after_checkpoint"
  | "before_month_end"
  | "places_out_of_order"
  | "places_after_it";

/**
 * A signed root that a verification reads: `own` is in the file, `kept` in a kept file, `kept_export` in a
 * kept export, and `cosigned` is the root that witnesses cosigned.
 */
export type NamedRoot = "own" | "kept" | "kept_export" | "cosigned";

/** Problems in the chain. */
interface ChainProblems {
  beyond_head: { last: number; head: number };
  other_end: { entry: NamedEntry };
  entry_changed: { entry: NamedEntry; position: number };
  place_taken: { entry: NamedEntry; position: number };
  /** `side` says where the missing entries are: before or after `entry`. */
  entries_missing: { from: number; to: number; side: "before" | "after"; entry: NamedEntry };
}

/** Problems with single events. */
interface EventProblems {
  not_an_event: { line: number };
  other_owner: { eventsOwner: string; proofOwner: string };
  event_without_place: { event_id: string };
  outcome_without_place: { event_id: string };
  event_twice: { event_id: string };
  event_out_of_order: { event_id: string };
  event_of_other_log: { event_id: string; owner: string };
  event_added_late: { event_id: string };
}

/** Problems with months that the file declares as dropped. */
interface DroppedProblems {
  declaration_unsound: { month: string; position: number; flaw: DeclarationFlaw };
  claim_not_month_start: { before: string };
  claim_after_checkpoint: { before: string };
  claim_behind_newer_events: { from: number; to: number };
  dropped_event_shown: { before: string };
}

/** Problems with the checkpoints, and with the heads at earlier checkpoints. */
interface CheckpointProblems {
  /** `checkpoint` is null when the file has none. */
  head_not_held: { checkpoint: number | null };
  checkpoint_not_signed: { checkpoint: number; problem: CheckpointProblem };
  two_checkpoints: { checkpoint: number };
  first_names_previous: object;
  previous_differs: { checkpoint: number; previous: number };
  head_out_of_order: { checkpoint: number };
  head_went_back: { position: number; checkpoint: number; lastPosition: number; lastCheckpoint: number };
  head_not_in_map: { position: number; checkpoint: number };
  head_not_reached: { position: number; checkpoint: number };
  head_rewritten: { position: number; checkpoint: number };
  head_without_entry: { position: number; checkpoint: number };
}

/** Problems with the tree of checkpoints. */
interface TreeProblems {
  root_not_a_note: { root: NamedRoot };
  root_of_unknown_key: { root: NamedRoot };
  root_with_wrong_signature: { root: NamedRoot };
  not_in_tree: { checkpoint: number; size: number };
  tree_begins_otherwise: { size: number; asked: number };
  two_trees: { size: number };
  cosigned_root_of_other_log: { cosignedOrigin: string; origin: string };
  tree_not_as_cosigned: { size: number; cosigned: number };
  cosignature_wrong: { witness: string };
}

/** Problems with the lines of a file, and with a kept export. */
interface FileProblems {
  /** `violation` is null for a line that is not JSON. */
  line_not_i_json: { line: number; violation: IJsonViolation | null };
  line_after_end: { line: number };
  end_unreadable: { line: number };
  cut_off: object;
  kept_export_rewritten: { position: number };
  kept_export_not_reached: { position: number };
}

/** The values of each problem by its code. */
export interface ProblemValues
  extends ChainProblems,
    EventProblems,
    DroppedProblems,
    CheckpointProblems,
    TreeProblems,
    FileProblems {}

/** The values of each question that the given files can leave open, by its code. */
interface QuestionValues {
  empty_log: object;
  /** `newest` is null for a file without checkpoints. */
  kept_checkpoint_newer: { checkpoint: number; newest: number | null };
  kept_checkpoint_unconnected: { checkpoint: number; newest: number; missing: number };
  no_tree: object;
  kept_root_newer: { size: number; newest: number };
  kept_root_unconnected: { size: number; newest: number };
  kept_export_of_other_log: { keptOwner: string; owner: string };
  kept_export_dropped: { position: number };
  kept_export_newer: { position: number };
  dropped_late: { from: number; to: number; month: string };
  dropped_undeclared: { from: number; to: number; before: string };
}

/** The values of each reason why too few witnesses vouch for an export, by its code. */
interface LackValues {
  /** The file shows no root that witnesses cosigned. */
  not_cosigned: object;
  /** The cosigned tree of `size` checkpoints does not have the checkpoint of the file. */
  cosigned_root_older: { size: number; checkpoint: number };
  /** `count` of `total` witnesses cosigned, and `quorum` must have. */
  cosigned_by_few: { count: number; total: number; quorum: number };
  /** The file is of the log `origin`, and the user named the log `expected`. */
  witnesses_of_other_log: { origin: string; expected: string };
}

/** The values of each fact that an export cannot prove, by its code. */
interface NotShownValues {
  /**
   * Whether events after the checkpoint were cut off. `old` says that an older version of Ostiary made the
   * checkpoint, which covers only the logs that grew since the checkpoint before.
   */
  cut: { checkpoint: number; old: boolean };
  /** Whether the holder of the key signed another history for other readers. */
  other_history: object;
  /** Whether the checkpoint is in the tree that witnesses follow. */
  tree: { checkpoint: number };
  /** The author of a log whose checkpoint is unsigned. `months` says whether months were dropped. */
  author: { months: boolean };
  /** Where the log ended on days without a checkpoint in the file. */
  days: { count: number; first: string; last: string };
  /** The content of dropped entries. */
  dropped: { entries: number };
}

/** The values of each finding by its code. */
interface FindingValues extends ProblemValues, QuestionValues, LackValues, NotShownValues {}

export type FindingCode = keyof FindingValues;
type ProblemCode = keyof ProblemValues;

/** A finding with a code of `Code`, and its values. */
export type FindingOf<Code extends FindingCode> = { [C in Code]: { code: C } & FindingValues[C] }[Code];

export type ProblemFinding = FindingOf<ProblemCode>;
export type Question = FindingOf<keyof QuestionValues>;
export type Lack = FindingOf<keyof LackValues>;
export type NotShown = FindingOf<keyof NotShownValues>;
export type Finding = FindingOf<FindingCode>;

/** The sentence for each finding, in one language. */
export type FindingWords = { readonly [C in FindingCode]: (finding: FindingOf<C>) => string };

/** Returns a finding as a sentence. */
export function sentenceOf<C extends FindingCode>(finding: FindingOf<C>, words: FindingWords): string {
  const say: (finding: FindingOf<C>) => string = words[finding.code];
  return say(finding);
}

/** The kinds of problems in an export with proof. */
export type ProblemKind = "changed" | "removed" | "added" | "moved" | "rebuilt" | "checkpoint" | "unreadable";

/** The kind of each problem. */
export const KINDS: Readonly<Record<ProblemCode, ProblemKind>> = {
  beyond_head: "added",
  other_end: "changed",
  entry_changed: "changed",
  place_taken: "added",
  entries_missing: "removed",
  not_an_event: "unreadable",
  other_owner: "checkpoint",
  event_without_place: "added",
  outcome_without_place: "added",
  event_twice: "added",
  event_out_of_order: "moved",
  event_of_other_log: "changed",
  event_added_late: "added",
  declaration_unsound: "removed",
  claim_not_month_start: "removed",
  claim_after_checkpoint: "removed",
  claim_behind_newer_events: "removed",
  dropped_event_shown: "removed",
  head_not_held: "rebuilt",
  checkpoint_not_signed: "checkpoint",
  two_checkpoints: "checkpoint",
  first_names_previous: "checkpoint",
  previous_differs: "checkpoint",
  head_out_of_order: "checkpoint",
  head_went_back: "rebuilt",
  head_not_in_map: "rebuilt",
  head_not_reached: "rebuilt",
  head_rewritten: "rebuilt",
  head_without_entry: "rebuilt",
  root_not_a_note: "unreadable",
  root_of_unknown_key: "checkpoint",
  root_with_wrong_signature: "checkpoint",
  not_in_tree: "checkpoint",
  tree_begins_otherwise: "checkpoint",
  two_trees: "checkpoint",
  cosigned_root_of_other_log: "checkpoint",
  tree_not_as_cosigned: "checkpoint",
  cosignature_wrong: "checkpoint",
  line_not_i_json: "unreadable",
  line_after_end: "unreadable",
  end_unreadable: "unreadable",
  cut_off: "unreadable",
  kept_export_rewritten: "rebuilt",
  kept_export_not_reached: "rebuilt",
};
