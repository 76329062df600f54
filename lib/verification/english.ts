import { type IJsonViolation, iJsonSentence } from "../domain/json/index.ts";
import type { CheckpointProblem } from "../domain/proof/index.ts";
import type { DeclarationFlaw, FindingWords, NamedEntry, NamedRoot } from "./finding-codes.ts";

/** The English sentence for each finding, as the command line shows it. */
export const ENGLISH: FindingWords = {
  beyond_head: ({ last, head }) =>
    `The chain goes on to position ${last}, but its head is at position ${head}.`,
  other_end: ({ entry }) =>
    `The chain ends with ${nameOf(entry)}, but the hash of that entry differs from the hash in the head.`,
  entry_changed: ({ entry, position }) =>
    `${capitalized(nameOf(entry))} is not what was sealed at position ${position}: it was changed, or moved there.`,
  place_taken: ({ entry, position }) =>
    `${capitalized(nameOf(entry))} has position ${position}, which another entry has too.`,
  entries_missing: ({ from, to, side, entry }) =>
    `${placesOf(from, to)} missing, ${side} ${nameOf(entry)}: an event was removed.`,

  not_an_event: ({ line }) => `Line ${line} is not an event with proof.`,
  other_owner: ({ eventsOwner, proofOwner }) =>
    `The events belong to ${eventsOwner}, but the proof belongs to ${proofOwner}.`,
  event_without_place: ({ event_id }) => `Event ${event_id} has no position in the chain: it was added.`,
  outcome_without_place: ({ event_id }) =>
    `The outcome of event ${event_id} has no position in the chain: it was added or changed.`,
  event_twice: ({ event_id }) => `Event ${event_id} is in the file twice.`,
  event_out_of_order: ({ event_id }) => `Event ${event_id} is out of order: events are sorted by id.`,
  event_of_other_log: ({ event_id, owner }) =>
    `Event ${event_id} belongs to another log: the log of ${owner}.`,
  event_added_late: ({ event_id }) =>
    `Event ${event_id} is more than an hour older than an event before it in the chain: it was added later.`,

  declaration_unsound: ({ month, position, flaw }) =>
    `The declaration of ${month} at position ${position} ${DECLARATION_FLAWS[flaw]}.`,
  claim_not_month_start: ({ before }) =>
    `The file declares events before "${before}" as dropped, but that is not the start of a month in UTC.`,
  claim_after_checkpoint: ({ before }) =>
    `The file declares events before ${before} as dropped, but that time is after its checkpoint.`,
  claim_behind_newer_events: ({ from, to }) =>
    `${placesOf(from, to)} declared as part of dropped months, but events of later months have lower positions.`,
  dropped_event_shown: ({ before }) =>
    `The file declares events before ${before} as dropped, but contains some of them.`,

  head_not_held: ({ checkpoint }) =>
    `${checkpoint === null ? "No checkpoint contains" : `Checkpoint ${checkpoint} does not contain`} the head of this chain: the chain was rebuilt, or belongs to another log.`,
  checkpoint_not_signed: ({ checkpoint, problem }) =>
    `Checkpoint ${checkpoint} ${SIGNATURE_PROBLEMS[problem]}.`,
  two_checkpoints: ({ checkpoint }) =>
    `Two different checkpoints have the number ${checkpoint}: they belong to two logs, or to a log that was restored from an older backup.`,
  first_names_previous: () => "Checkpoint 1 names a previous checkpoint, but the first checkpoint has none.",
  previous_differs: ({ checkpoint, previous }) =>
    `Checkpoint ${checkpoint} does not follow checkpoint ${previous} of this file.`,
  head_out_of_order: ({ checkpoint }) => `The head of the log at checkpoint ${checkpoint} is out of order.`,
  head_went_back: ({ position, checkpoint, lastPosition, lastCheckpoint }) =>
    `The log ended at position ${lastPosition} at checkpoint ${lastCheckpoint}, but at position ${position} at checkpoint ${checkpoint}: it was cut.`,
  head_not_in_map: ({ position, checkpoint }) =>
    `This file says that the log ended at position ${position} at checkpoint ${checkpoint}, but the checkpoint does not prove that.`,
  head_not_reached: ({ position, checkpoint }) =>
    `The log had ${position} entries at checkpoint ${checkpoint}, which this file does not reach: newer events were cut off.`,
  head_rewritten: ({ position, checkpoint }) =>
    `The chain hash at position ${position} differs from the hash in checkpoint ${checkpoint}: the log has been rewritten since that checkpoint.`,
  head_without_entry: ({ position, checkpoint }) =>
    `The log has no entry at position ${position}, where it ended at checkpoint ${checkpoint}.`,

  root_not_a_note: ({ root }) => `${ROOTS[root]} is not a signed note.`,
  root_of_unknown_key: ({ root }) => `${ROOTS[root]} is not signed by any of the given keys.`,
  root_with_wrong_signature: ({ root }) => `${ROOTS[root]} has a wrong signature.`,
  not_in_tree: ({ checkpoint, size }) =>
    `Checkpoint ${checkpoint} is not in the tree of ${size} checkpoints whose root the log signed: it belongs to another history.`,
  tree_begins_otherwise: ({ size, asked }) =>
    `The tree of ${size} checkpoints does not begin with the tree of ${asked} checkpoints in this file: the log was rewritten.`,
  two_trees: ({ size }) =>
    `Two different trees have ${size} checkpoints: the log was rewritten after one of the roots was kept.`,

  cosigned_root_of_other_log: ({ cosignedOrigin, origin }) =>
    `The root that witnesses cosigned belongs to the log ${cosignedOrigin}, but this file belongs to ${origin}.`,
  tree_not_as_cosigned: ({ size, cosigned }) =>
    `The tree of ${size} checkpoints does not begin with the tree of ${cosigned} that witnesses cosigned: the log was set back, forked or rewritten.`,
  cosignature_wrong: ({ witness }) =>
    `The cosignature of the witness ${witness} is wrong: the witness's key did not make it.`,

  not_cosigned: () =>
    "The file shows no root that witnesses cosigned: the log has no witnesses, no witness has cosigned it yet, or the operator of the log left the root out.",
  cosigned_root_older: ({ size, checkpoint }) =>
    `The newest root that witnesses cosigned has ${size} checkpoints, but this file ends with checkpoint ${checkpoint}: make the export again. If this repeats, the witnesses do not answer or refuse the log.`,
  cosigned_by_few: ({ count, total, quorum }) =>
    `Too few witnesses cosigned the log: ${count} of ${total}; at least ${quorum} must.`,
  witnesses_of_other_log: ({ origin, expected }) =>
    `The export is of the log ${origin}, but the witnesses must have cosigned the log ${expected}.`,

  line_not_i_json: ({ line, violation }) => `Line ${line} is not I-JSON${iJsonText(violation)}.`,
  line_after_end: ({ line }) => `Line ${line} comes after the line that ends the proof.`,
  end_unreadable: ({ line }) => `Line ${line} must end the proof, but cannot be read.`,
  cut_off: () => "The last line, which ends the proof, is missing: the file was cut off.",
  kept_export_rewritten: ({ position }) =>
    `The chain hash at position ${position} differs from the hash in the kept export: the log has been rewritten since that export.`,
  kept_export_not_reached: ({ position }) =>
    `The kept export has ${position} entries, but this file has fewer: newer entries were cut off.`,

  empty_log: () =>
    "The log is empty, and no checkpoint covers an empty log. The file does not show whether events were cut off; only an export that you kept shows that.",
  kept_checkpoint_newer: ({ checkpoint, newest }) =>
    `The kept checkpoint ${checkpoint} is newer than this file, ${newest === null ? "which has no checkpoint" : `whose newest checkpoint is ${newest}`}. Either this file was exported before checkpoint ${checkpoint} was made, or the log was restored from an older backup.`,
  kept_checkpoint_unconnected: ({ checkpoint, newest, missing }) =>
    `The files do not show whether checkpoint ${newest} continues the kept checkpoint ${checkpoint}: checkpoint ${missing} is missing. Make the export with checkpoint=${checkpoint}, or give a file with all checkpoints between them as --checkpoint.`,
  no_tree: () =>
    "This file has no tree of checkpoints, so it cannot be compared with the kept root. Make a new export.",
  kept_root_newer: ({ size, newest }) =>
    `The kept root of ${size} checkpoints is newer than this file, whose tree has ${newest}. Either this file was exported before the tree had ${size} checkpoints, or the log was restored from an older backup.`,
  kept_root_unconnected: ({ size, newest }) =>
    `The files do not show whether the tree of ${newest} checkpoints continues the kept root of ${size}. Make the export with checkpoint=${size}.`,
  kept_export_of_other_log: ({ keptOwner, owner }) =>
    `The kept export belongs to ${keptOwner}, but this file belongs to ${owner}: they cannot be compared.`,
  kept_export_dropped: ({ position }) =>
    `The kept export ends at position ${position}, which has been dropped since that export. The files do not show whether this file continues the kept export. Keep a newer export.`,
  kept_export_newer: ({ position }) =>
    `The kept export has ${position} entries and newer checkpoints than this file. Either this file was exported before the kept export, or the log was restored from an older backup.`,
  dropped_late: ({ from, to, month }) =>
    `${placesOf(from, to)} declared as dropped with ${month}, but events of later months have lower positions. The file does not show whether the dropped entries were late outcomes of that month's events.`,
  dropped_undeclared: ({ from, to, before }) =>
    `${placesOf(from, to)} missing as part of dropped months before ${before}, but the chain does not declare this. The file does not show whether missing entries were dropped or removed.`,

  cut: ({ checkpoint, old }) =>
    old
      ? `Whether events after checkpoint ${checkpoint} were cut off: an older version of Ostiary made this checkpoint, so it covers only logs that grew. Only a later export that you kept shows that.`
      : `Whether events after checkpoint ${checkpoint} were cut off: only a later export or checkpoint that you kept shows that.`,
  other_history: () =>
    "Whether the holder of the key signed another history for other readers: compare the checkpoints that you and others kept.",
  tree: ({ checkpoint }) =>
    `Whether checkpoint ${checkpoint} is in the tree that witnesses follow: the file was exported by an older version of Ostiary, which wrote no tree, or the operator of the log left the tree out.`,
  author: ({ months }) =>
    `The author of this log: no key signed it, so anyone who can write the database can have rewritten all of it${months ? ", including months that it declares as dropped" : ""}. Only kept copies show that.`,
  days: ({ count, first, last }) =>
    `The end of the log ${count === 1 ? `on ${first}` : `on ${count} days from ${first} to ${last}`}: the file has no checkpoint of the day, because none was signed, none covered all logs, or the operator of the log left it out.`,
  dropped: ({ entries }) => `The content of the ${entries} dropped entries: only their hashes are left.`,
};

const DECLARATION_FLAWS: Readonly<Record<DeclarationFlaw, string>> = {
  no_time: "has no valid time of declaration",
  after_checkpoint: "is later than the checkpoint that covers it",
  before_month_end: "was declared before that month was over",
  places_out_of_order: "names positions that are out of order",
  places_after_it: "names positions that come after the declaration",
};

const SIGNATURE_PROBLEMS: Readonly<Record<CheckpointProblem, string>> = {
  unsigned: "is not signed",
  unknown_key: "is not signed by any of the given keys",
  wrong_signature: "has a wrong signature",
  other_content: "differs from the signed content",
};

const ROOTS: Readonly<Record<NamedRoot, string>> = {
  own: "The root of the tree of checkpoints",
  kept: "The kept root",
  kept_export: "The root in the kept export",
  cosigned: "The root that witnesses cosigned",
};

function iJsonText(violation: IJsonViolation | null): string {
  return violation === null ? "" : `: ${iJsonSentence(violation)}`;
}

function nameOf(entry: NamedEntry): string {
  switch (entry.entry) {
    case "intent":
    case "outcome":
      return `the ${entry.entry} of event ${entry.event_id}`;
    case "retention":
      return `the declaration of ${entry.month}`;
    case "place":
      return `the entry at position ${entry.position}`;
    case "start":
      return "the start of the chain";
  }
}

function placesOf(from: number, to: number): string {
  return from === to ? `The entry at position ${from} is` : `The entries at positions ${from} to ${to} are`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
