import { type IJsonViolation, iJsonSentence } from "../domain/json/index.ts";
import type { CheckpointProblem } from "../domain/proof/index.ts";
import type { DeclarationFlaw, FindingWords, NamedEntry, NamedRoot, StatementFlaw } from "./findings.ts";

/** The English sentence for each finding, as the command line shows it. */
export const ENGLISH: FindingWords = {
  beyond_head: ({ last, head }) => `The chain goes on to place ${last}, but its head is at ${head}.`,
  other_end: ({ entry }) =>
    `The chain ends with ${nameOf(entry)}, but its hash there differs from the hash in the head.`,
  entry_changed: ({ entry, position }) =>
    `${capitalized(nameOf(entry))} is not what was sealed at place ${position}: it was changed, or moved there.`,
  place_taken: ({ entry, position }) =>
    `${capitalized(nameOf(entry))} has place ${position}, which another entry has.`,
  entries_missing: ({ from, to, side, entry }) =>
    `${placesOf(from, to)} missing, ${side} ${nameOf(entry)}: an event was removed.`,

  not_an_event: ({ line }) => `Line ${line} is not an event with proof.`,
  other_owner: ({ events_owner, proof_owner }) =>
    `The events are of ${events_owner}, the proof is of ${proof_owner}.`,
  event_without_place: ({ event_id }) => `Event ${event_id} has no place in the chain: it was added.`,
  outcome_without_place: ({ event_id }) =>
    `The outcome of event ${event_id} has no place in the chain: it was added or changed.`,
  event_twice: ({ event_id }) => `Event ${event_id} is in the file twice.`,
  event_out_of_order: ({ event_id }) => `Event ${event_id} is out of order: events are sorted by id.`,
  event_of_other_log: ({ event_id, owner }) => `Event ${event_id} is of another log: of ${owner}.`,
  event_added_late: ({ event_id }) =>
    `Event ${event_id} was written after events that are newer by more than an hour: it was added later.`,

  declaration_unsound: ({ month, position, flaw }) =>
    `The retention of ${month} at place ${position} ${DECLARATION_FLAWS[flaw]}.`,
  claim_not_month_start: ({ before }) =>
    `Events before "${before}" are said to be dropped, which is not the start of a month in UTC.`,
  claim_after_checkpoint: ({ before }) =>
    `Events before ${before} are said to be dropped, which is after the checkpoint of this file.`,
  claim_behind_newer_events: ({ from, to }) =>
    `${placesOf(from, to)} said to be of months that were dropped, but newer events come before them.`,
  dropped_event_shown: ({ before }) => `Events before ${before} are said to be dropped, and some are here.`,
  statement_unsound: ({ id, position, why }) =>
    `The statement ${id} at place ${position} ${statementFlaw(why)}.`,

  head_not_held: ({ checkpoint }) =>
    `${checkpoint === null ? "No checkpoint holds" : `Checkpoint ${checkpoint} does not hold`} this chain: it was cut and rebuilt, or is of another log.`,
  checkpoint_not_signed: ({ checkpoint, problem }) =>
    `Checkpoint ${checkpoint} ${SIGNATURE_PROBLEMS[problem]}.`,
  two_checkpoints: ({ checkpoint }) =>
    `Two different checkpoints have the number ${checkpoint}: they are of two logs, or of a log that was restored from an older backup.`,
  first_names_previous: () => "Checkpoint 1 names a previous checkpoint.",
  previous_differs: ({ checkpoint, previous }) =>
    `Checkpoint ${checkpoint} does not follow the checkpoint ${previous} that is here.`,
  head_out_of_order: ({ checkpoint }) => `The head under checkpoint ${checkpoint} is out of order.`,
  head_went_back: ({ position, checkpoint, last_position, last_checkpoint }) =>
    `The log ends at place ${position} under checkpoint ${checkpoint}, and ended at place ${last_position} under checkpoint ${last_checkpoint}: it was cut.`,
  head_not_in_map: ({ position, checkpoint }) =>
    `The log does not end at place ${position} under checkpoint ${checkpoint}, as this file says.`,
  head_not_reached: ({ position, checkpoint }) =>
    `The log had ${position} entries under checkpoint ${checkpoint}, which this file does not reach: newer events were cut off.`,
  head_rewritten: ({ position, checkpoint }) =>
    `The log has another chain at place ${position} under checkpoint ${checkpoint}: it was rewritten since.`,
  head_without_entry: ({ position, checkpoint }) =>
    `The log has no entry at place ${position}, where it ended under checkpoint ${checkpoint}.`,

  root_not_a_note: ({ root }) => `${ROOTS[root]} is not a signed note.`,
  root_of_unknown_key: ({ root }) => `${ROOTS[root]} is not signed by a key that is among those given.`,
  root_with_wrong_signature: ({ root }) => `${ROOTS[root]} has a wrong signature.`,
  not_in_tree: ({ checkpoint, size }) =>
    `Checkpoint ${checkpoint} is not in the tree of ${size} checkpoints whose root the log signed: it is of another history.`,
  tree_begins_otherwise: ({ size, asked }) =>
    `The tree of ${size} checkpoints does not begin with the tree of ${asked} that this file has.`,
  two_trees: ({ size }) =>
    `Two different trees have ${size} checkpoints: the log was rewritten since one of their roots was kept.`,

  cosigned_root_of_other_log: ({ cosigned_origin, origin }) =>
    `The root that witnesses cosigned is of the log ${cosigned_origin}, and this file is of ${origin}.`,
  tree_not_as_cosigned: ({ size, cosigned }) =>
    `The tree of ${size} checkpoints does not begin with the tree of ${cosigned} that witnesses cosigned: the log was set back, forked or rewritten.`,
  cosignature_wrong: ({ witness }) =>
    `The cosignature of the witness ${witness} is wrong: its key did not make it.`,

  not_cosigned: () =>
    "The file shows no root that witnesses cosigned: the log has no witnesses, none has cosigned it yet, or the keeper left it out.",
  cosigned_root_older: ({ size, checkpoint }) =>
    `The newest root that witnesses cosigned has ${size} checkpoints, and this file is of checkpoint ${checkpoint}: make the export again. If it stays so, the witnesses are away or refuse the log.`,
  cosigned_by_few: ({ count, total, quorum }) =>
    `Too few witnesses cosigned the log: ${count} of ${total}, and ${quorum} must have.`,
  witnesses_of_other_log: ({ origin, expected }) =>
    `This is the log ${origin}: the witnesses must have cosigned the log ${expected}.`,

  line_not_i_json: ({ line, violation }) => `Line ${line} is not I-JSON${iJsonText(violation)}.`,
  line_after_end: ({ line }) => `Line ${line} comes after the line that ends the proof.`,
  end_unreadable: ({ line }) => `Line ${line} should end the proof, and cannot be read.`,
  cut_off: () => "The last line, which ends the proof, is missing: the file was cut off.",
  kept_export_rewritten: ({ position }) =>
    `The export that was kept has another chain at place ${position}: what comes before was rewritten since.`,
  kept_export_not_reached: ({ position }) =>
    `The export that was kept has ${position} entries, which this file does not reach.`,

  empty_log: () =>
    "The log is empty, and no checkpoint covers an empty log. The file does not show whether events were cut off; a kept export of the log does.",
  kept_checkpoint_newer: ({ checkpoint, newest }) =>
    `The kept checkpoint ${checkpoint} is newer than this file, ${newest === null ? "which has no checkpoint" : `whose newest checkpoint is ${newest}`}. Either the file is older, or the log was restored from an older backup.`,
  kept_checkpoint_unconnected: ({ checkpoint, newest, missing }) =>
    `Nothing here leads from checkpoint ${checkpoint}, which was kept, to ${newest}: checkpoint ${missing} is missing, so the files do not show whether the log continues from ${checkpoint}. Make the export with checkpoint=${checkpoint}, or give a list of all between them as --checkpoint.`,
  no_tree: () => "This file has no tree of checkpoints, so the root that was kept cannot be compared.",
  kept_root_newer: ({ size, newest }) =>
    `The kept root of ${size} checkpoints is newer than this file, whose tree has ${newest}. Either the file is older, or the log was restored from an older backup.`,
  kept_root_unconnected: ({ size, newest }) =>
    `Nothing here leads from the root of ${size} checkpoints, which was kept, to the tree of ${newest}. Make the export with checkpoint=${size}.`,
  kept_export_of_other_log: ({ kept_owner, owner }) =>
    `The export that was kept is of ${kept_owner}, this one of ${owner}: they cannot be compared.`,
  kept_export_dropped: ({ position }) =>
    `The export that was kept ends at place ${position}, which was dropped since. The files do not show whether this file continues the kept export. Keep a newer export.`,
  kept_export_newer: ({ position }) =>
    `The export that was kept has ${position} entries, which this file does not reach, and knows newer checkpoints: either this file was made before it, or the log was restored from an older backup.`,
  dropped_late: ({ from, to, month }) =>
    `${placesOf(from, to)} dropped with ${month}, but newer events come before. The file does not show whether the dropped entries were late outcomes of that month's events.`,
  dropped_undeclared: ({ from, to, before }) =>
    `${placesOf(from, to)} said to be of months before ${before} that were dropped, and no declaration in the chain says so. The file does not show whether they were dropped or removed.`,

  cut: ({ checkpoint, old }) =>
    old
      ? `Whether newer events than those of checkpoint ${checkpoint} were cut off: it is of an older version, and has only the logs that grew with it. Only a later export that you kept shows that.`
      : `Whether events after checkpoint ${checkpoint} were cut off: only a later export or checkpoint that you kept shows that.`,
  other_history: () =>
    "Whether the holder of the key signed another history for other readers: compare the checkpoints that you and others kept.",
  tree: ({ checkpoint }) =>
    `Whether checkpoint ${checkpoint} is in the tree that witnesses follow: the file was made by a version without the tree, or the keeper left it out.`,
  author: ({ months }) =>
    `The author of this log: no key signed it, so anyone who can write the database can have rewritten all of it${months ? ", months that it says were dropped included" : ""}. Only kept copies show that.`,
  days: ({ count, first, last }) =>
    `The end of the log ${count === 1 ? `on ${first}` : `on ${count} days from ${first} to ${last}`}: the file has no checkpoint of the day, because none was signed, none had all logs, or the keeper left it out.`,
  dropped: ({ entries }) =>
    `The content of the ${entries} dropped entries: only their chain values are left.`,
};

const DECLARATION_FLAWS: Readonly<Record<DeclarationFlaw, string>> = {
  no_time: "has no valid time of declaration",
  after_checkpoint: "is of a time after the checkpoint that signs it",
  before_month_end: "was declared before that month was over",
  places_out_of_order: "names places that are out of order",
  places_after_it: "names places that come after it",
};

const SIGNATURE_PROBLEMS: Readonly<Record<CheckpointProblem, string>> = {
  unsigned: "is not signed",
  unknown_key: "is signed by a key that is not among those given",
  wrong_signature: "has a signature that its key did not make",
  other_content: "differs from what was signed",
};

const ROOTS: Readonly<Record<NamedRoot, string>> = {
  own: "The root of the tree of checkpoints",
  kept: "The root that was kept",
  kept_export: "The root in the export that was kept",
  cosigned: "The root that witnesses cosigned",
};

function statementFlaw(why: StatementFlaw): string {
  switch (why.flaw) {
    case "out_of_order":
      return "is not in the order of the chain";
    case "month":
      return "does not span its month";
    case "no_time":
      return "has no valid time at which it was made";
    case "too_early":
      return "was made before its month was over";
    case "after_checkpoint":
      return "is of a time after the checkpoint that signs it";
    case "not_of_organization":
      return "is in a log that is not of an organization";
    case "number":
      return `is not the statement ${why.expected}, which comes there`;
    case "corrects":
      return "does not name the statement before it";
    case "sum":
      return `has ${why.value} as its ${why.name}, which is not the sum of its services`;
    case "repeated_names":
      return "names a service or a policy twice, or out of order";
    case "refusals":
      return "has refusals that are not the sum of their reasons";
  }
}

function iJsonText(violation: IJsonViolation | null): string {
  return violation === null ? "" : `: ${iJsonSentence(violation)}`;
}

function nameOf(entry: NamedEntry): string {
  switch (entry.entry) {
    case "intent":
    case "outcome":
      return `the ${entry.entry} of event ${entry.event_id}`;
    case "retention":
      return `the retention of ${entry.month}`;
    case "statement":
      return `the statement ${entry.id}`;
    case "place":
      return `place ${entry.position}`;
    case "start":
      return "the beginning";
  }
}

function placesOf(from: number, to: number): string {
  return from === to ? `The entry at place ${from} is` : `The entries at places ${from} to ${to} are`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
