import type { FieldError } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import { isStorable, STORABLE_RULE } from "./text.ts";

/** The fields of a value of any shape: rules look at each for itself, so that one answer names all that is wrong. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; anything else has none. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

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
