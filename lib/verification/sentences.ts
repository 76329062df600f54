/** The codes of findings, with an English sentence for each. Its place, and what was expected and found, stand around it. */
export const ENGLISH = {
  line_unreadable: "This line is not what the format allows here.",
  cut_off: "The last line, which has the proof, is missing: the file was cut off.",
  event_inconsistent: "The event has a result without a sealed outcome, or the other way around.",
  event_out_of_order: "The event is out of order, or in the file twice: ids must fall from line to line.",
  event_late:
    "The event is more than an hour older than an event before it in the chain: it was added later.",
  other_owner: "This is the log of another owner.",
  entry_changed: "The entry is not what was sealed: it was changed, or moved to this position.",
  position_taken: "Two entries have this position.",
  entries_missing: "Entries are missing: events were removed.",
  head_differs: "The chain does not end at the head that was sealed.",
  declaration_wrong: "A declaration of the chain is not possible as it is.",
  drop_not_proved: "These missing entries are not proved to belong to a month that was declared as dropped.",
  head_not_in_map:
    "The map of this leaf does not have this head: the chain was rebuilt, cut or is another one.",
  leaf_not_in_tree: "The signed tree does not have this leaf, or not at this place.",
  heads_out_of_order: "The heads under earlier leaves are out of order, or the log went back between them.",
  earlier_head_wrong: "The log was rewritten: an earlier head is not on this chain.",
  root_unreadable: "This is not a signed root.",
  root_not_signed: "The root is not signed by the keys that must have signed it.",
  cosignature_wrong: "The cosignature of this witness is wrong: its key did not make it.",
  trees_differ:
    "The tree does not continue an earlier tree of this log: it was forked, set back or rewritten.",
  format_unknown:
    "This version of Ostiary does not know the format of the file. Verify it with a newer version.",
  no_signed_root: "No signed root covers this log, so only its keeper vouches for it.",
  kept_root_newer:
    "The kept root is newer than this export. Make the export again; if that does not help, the log went back.",
  kept_root_not_connected:
    "The files do not show that the log continues the kept root. Make the export again with this parameter.",
  root_of_other_log: "The root belongs to a log with another name.",
  entries_given_up: "An operator declared that entries here cannot be restored.",
  not_cosigned:
    "Too few witnesses cosigned a tree that has this export. Make the export again; if that does not help, the witnesses do not answer or refuse the log.",
};
