/** The code of a finding. Each language has a table of sentences by code. */
export type FindingCode = keyof typeof ENGLISH;

/**
 * Findings that leave completeness unproven. Any other finding makes the export altered: it breaks a rule of its
 * format.
 */
const UNDECIDED: ReadonlySet<FindingCode> = new Set<FindingCode>([
  "format_unknown",
  "no_signed_root",
  "kept_root_newer",
  "kept_root_not_connected",
  "root_of_other_log",
  "event_joined_late",
  "entries_given_up",
  "not_cosigned",
]);

/** The place of a finding. Each field is present only if it applies. */
export interface FindingPlace {
  /** The line of the file, counted from 1. */
  line?: number;
  event_id?: string;
  /** The position in the chain, and the last position of a range. */
  position?: number;
  to?: number;
  leaf?: number;
  /** `note` or `cosigned.note` of the last line, or the name of a kept root or witness. */
  root?: string;
}

/** A finding of a verification at a place. `expected` and `found` are null where the code alone says it. */
export interface Finding {
  code: FindingCode;
  place: FindingPlace;
  expected: string | null;
  found: string | null;
}

/** Returns whether a finding makes the export altered. */
export function isAltered({ code }: Pick<Finding, "code">): boolean {
  return !UNDECIDED.has(code);
}

/** The maximum number of findings to keep, so that a broken file does not exhaust memory. */
const KEPT_MAX = 100_000;

export class Findings {
  #kept: Finding[] = [];
  #dropped = 0;

  add(code: FindingCode, place: FindingPlace, expected: unknown = null, found: unknown = null): void {
    if (this.#kept.length === KEPT_MAX) this.#dropped += 1;
    else this.#kept.push({ code, place, expected: textOf(expected), found: textOf(found) });
  }

  /**
   * Removes the findings that `isVoid` accepts, and returns them. Removes none once there were too many to keep:
   * the findings that were not kept could be of any kind.
   */
  remove(isVoid: (finding: Finding) => boolean): Finding[] {
    if (this.#dropped > 0) return [];
    const all = Map.groupBy(this.#kept, isVoid);
    this.#kept = all.get(false) ?? [];
    return all.get(true) ?? [];
  }

  get total(): number {
    return this.#kept.length + this.#dropped;
  }

  /** Returns the findings, those that explain others first, then in the order of the chain. */
  sorted(): Finding[] {
    return this.#kept.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function rankOf({ code, place }: Finding): number {
  if (code === "format_unknown" || code === "line_unreadable" || code === "cut_off") return -2;
  if (code === "other_owner") return -1;
  return place.position ?? Number.POSITIVE_INFINITY;
}

/**
 * The codes of findings, with an English sentence for each. Its place, and what was expected and found, stand around
 * it.
 */
export const ENGLISH = {
  line_unreadable: "This line is not what the format allows here.",
  cut_off: "The last line, which has the proof, is missing: the file was cut off.",
  event_inconsistent: "The event has a result without a sealed outcome, or the other way around.",
  event_out_of_order: "The event is out of order, or in the file twice: ids must fall from line to line.",
  event_late:
    "The event is more than an hour older than an event before it in the chain: it was added later.",
  event_time_wrong: "The event claims a time more than a day from the time in its id, when it was written.",
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
  heads_out_of_order:
    "The heads under earlier leaves are out of order, or the log was set back between them.",
  earlier_head_wrong: "The log was rewritten: an earlier head is not on this chain.",
  root_unreadable: "This is not a signed root.",
  root_not_signed: "The root is not signed by the keys that must have signed it.",
  cosignature_wrong: "The cosignature of this witness is wrong: its key did not make it.",
  trees_differ:
    "The tree does not continue an earlier tree of this log: it was forked, set back or rewritten.",
  format_unknown:
    "This version of Ostiary does not know the format of the file. Verify it with a newer version.",
  no_signed_root: "No signed root covers this log, so only the operator of the log vouches for it.",
  kept_root_newer:
    "The kept root is newer than this export. Make the export again; if that does not help, the log was set back.",
  kept_root_not_connected:
    "The files do not show that the log continues the kept root. Make the export again with this parameter.",
  root_of_other_log: "The root belongs to a log with another name.",
  event_joined_late:
    "The event is more than an hour older than an event before it in the chain. Its outcome put it into this log, and outcomes can be late. The log of its person shows whether the event is that old.",
  entries_given_up: "An operator declared that entries here cannot be restored.",
  not_cosigned:
    "Too few witnesses cosigned a tree that has this export. Make the export again; if that does not help, the witnesses refuse the log or do not respond.",
};

export function englishOf({ code, place, expected, found }: Finding): string {
  const where = englishPlace(place);
  return [
    `${where}${where === "" ? "" : ": "}${ENGLISH[code]}`,
    ...(expected === null ? [] : [`Expected: ${expected}.`]),
    ...(found === null ? [] : [`Found: ${found}.`]),
  ].join(" ");
}

function englishPlace({ line, event_id, position, to, leaf, root }: FindingPlace): string {
  const parts = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(event_id === undefined ? [] : [`event ${event_id}`]),
    ...(position === undefined
      ? []
      : [to === undefined || to === position ? `position ${position}` : `positions ${position} to ${to}`]),
    ...(leaf === undefined ? [] : [`leaf ${leaf}`]),
    ...(root === undefined ? [] : [root]),
  ].join(", ");
  return parts.charAt(0).toUpperCase() + parts.slice(1);
}
