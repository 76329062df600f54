import type { ENGLISH } from "./sentences.ts";

/** The code of a finding. Each language has a table of sentences by code. */
export type FindingCode = keyof typeof ENGLISH;

/** The findings that leave a question open. All others make the export altered: it breaks a rule of its format. */
const UNDECIDED: ReadonlySet<FindingCode> = new Set<FindingCode>([
  "format_unknown",
  "no_signed_root",
  "kept_root_newer",
  "kept_root_not_connected",
  "root_of_other_log",
  "entries_given_up",
  "not_cosigned",
]);

/** The place of a finding. Each field is present only if it applies. */
export interface Place {
  /** The line of the file, counted from 1. */
  line?: number;
  event_id?: string;
  /** The position in the chain, and the last position of a range. */
  position?: number;
  to?: number;
  /** The number of a leaf of the tree. */
  leaf?: number;
  /** `note` or `cosigned.note` of the last line, or the name of a kept root or witness. */
  root?: string;
}

/** A finding of a verification at a place. `expected` and `found` are null where the code alone says it. */
export interface Finding {
  code: FindingCode;
  place: Place;
  expected: string | null;
  found: string | null;
}

/** Returns whether a finding makes the export altered. */
export function isAltered({ code }: Pick<Finding, "code">): boolean {
  return !UNDECIDED.has(code);
}

/** The maximum number of findings to keep, so that a broken file does not exhaust memory. */
const KEPT_MAX = 100_000;

/** The findings of one verification. */
export class Findings {
  #kept: Finding[] = [];
  #dropped = 0;

  add(code: FindingCode, place: Place, expected: unknown = null, found: unknown = null): void {
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
