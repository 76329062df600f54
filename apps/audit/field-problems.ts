import { type FieldError, validationError } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import { parseTime, TIME_RULE } from "@ostiary/lib/domain/schemas";

/** The fields of an unchecked value. Rules check single fields, so one response can list every problem. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/**
 * Returns whether PostgreSQL can store `text` unchanged: without NUL and without half of a surrogate pair.
 */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

export const STORABLE_RULE = "must not contain NUL or half of a surrogate pair";

/** Returns a problem for each text that the log cannot store. A path is `prefix` and the name of the text. */
export function unstorable(texts: Fields, prefix = ""): FieldError[] {
  return Object.entries(texts).flatMap(([name, text]) => {
    if (typeof text !== "string" || isStorable(text)) return [];
    const path = prefix + name;
    return [{ path, message: `${path} ${STORABLE_RULE}.` }];
  });
}

/** Returns the problem of a text that is not a time, or not a time that `isAllowed` accepts. */
export function timeProblems(
  path: string,
  value: unknown,
  isAllowed: (timeMs: number) => boolean,
  rule: string,
): FieldError[] {
  if (typeof value !== "string") return [];
  const time = parseTime(value);
  if (time === null) return [{ path, message: `${path} ${TIME_RULE}.` }];
  return isAllowed(time.epochMilliseconds) ? [] : [{ path, message: `${path} ${rule}.` }];
}

export function firstOfEach(problems: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return problems.filter(({ path }) => !seen.has(path) && seen.add(path));
}

/** Throws a 422 with all problems, if there are any. */
export function refuse(problems: readonly FieldError[]): void {
  if (problems.length > 0) throw validationError(firstOfEach(problems));
}
