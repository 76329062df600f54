import { FIELD_ERRORS_MAX, type FieldError, shownKey } from "../errors/index.ts";

/** Collects what is wrong with an input, up to the number of errors that an answer lists. */
export class Report {
  readonly fields: FieldError[] = [];

  /** Nothing more is kept, so there is no use in reading on. */
  get isFull(): boolean {
    return this.fields.length === FIELD_ERRORS_MAX;
  }

  add(path: string, message: string): void {
    if (!this.isFull) this.fields.push({ path, message });
  }
}

/** The path of the member `key` of what is at `parent`. */
export function memberPath(parent: string, key: string): string {
  return parent === "" ? shownKey(key) : `${parent}.${shownKey(key)}`;
}

/** A word of the input inside a message. */
export function quoted(text: string): string {
  return `\`${shownKey(text)}\``;
}

/** Reports every member of `value` that is not among `known`. */
export function refuseUnknown(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  what: string,
  at: string,
  report: Report,
): void {
  for (const key of Object.keys(value)) {
    if (report.isFull) break;
    if (!known.includes(key)) report.add(memberPath(at, key), `Unknown field. ${what} takes ${list(known)}.`);
  }
}

/** `a, b and c`. */
export function list(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
