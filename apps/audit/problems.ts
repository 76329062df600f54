import { type FieldError, validationError } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";

/** The fields of a value of any shape: rules look at each for itself, so that one answer names all that is wrong. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; anything else has none. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** Whether PostgreSQL can hold `text` as it is: no NUL, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

export const STORABLE_RULE = "must not contain NUL or half of a surrogate pair";

/** The texts that the log can't hold, by path. */
export function unstorable(texts: Fields): FieldError[] {
  return Object.entries(texts).flatMap(([path, text]) =>
    typeof text === "string" && !isStorable(text) ? [{ path, message: `${path} ${STORABLE_RULE}.` }] : [],
  );
}

/** One problem for each path: the first that was found says what to mend first. */
export function firstOfEach(problems: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return problems.filter(({ path }) => !seen.has(path) && seen.add(path));
}

/** 422 with all that is wrong, if anything is. */
export function refuse(problems: readonly FieldError[]): void {
  if (problems.length > 0) throw validationError(firstOfEach(problems));
}
