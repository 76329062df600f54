import { readFileSync } from "node:fs";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { FIELD_ERRORS_MAX, type FieldPath, shownPath, violationsOf } from "../../domain/errors/index.ts";
import { isRecord } from "../../domain/json/index.ts";
import { InvalidText, locate, parseYaml, type TextPosition } from "../documents/index.ts";
import { ConfigError, type ConfigProblem } from "./load.ts";

export interface FileProblem {
  readonly path: FieldPath;
  readonly message: string;
}

/** Returns a problem of the field at `path`, reported at the line of `place`. */
export function problemAt(path: FieldPath, text: string, place = path): FileProblem {
  return { path: place, message: `${shownPath(path)}${text}` };
}

/** Throws a ConfigError if the file cannot be read. */
export function readTextFile(variable: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw refusal(variable, [`names ${path}, which cannot be read`]);
  }
}

/**
 * Parses the file that `variable` names. `problemsOf` returns all problems of a value, given those that `schema` finds.
 * Throws a ConfigError with every problem and its line.
 */
export function parseYamlFile<Schema extends TSchema>(
  variable: string,
  schema: Schema,
  text: string,
  problemsOf: (value: unknown, shape: readonly FileProblem[]) => readonly FileProblem[],
): Static<Schema> {
  const found: string[] = [];
  const value = yamlValue(variable, text, ({ line }) =>
    found.push(`line ${line}: a key occurs twice in one map`),
  );
  const problems = problemsOf(value, shapeProblems(schema, value));
  const places = locate(
    text,
    problems.map(({ path }) => path),
  );
  found.push(...problems.map(({ message }, index) => `line ${places[index]?.line ?? 1}: ${message}`));
  if (found.length > 0) throw refusal(variable, found);
  return Value.Decode(schema, value);
}

/** Returns the maps in the list under `key`, each with its index. The file may not match its schema. */
export function entriesUnder(key: string, value: unknown, entriesMax: number) {
  const list = isRecord(value) ? value[key] : undefined;
  if (!Array.isArray(list)) return [];
  return list
    .slice(0, entriesMax)
    .flatMap((entry: unknown, index) => (isRecord(entry) ? [{ index, entry }] : []));
}

function shapeProblems(schema: TSchema, value: unknown): FileProblem[] {
  return violationsOf(schema, value).all.map(({ path, message }) => ({
    path,
    message: message.replace(/^The body/, "The file").replace(/\.$/, ""),
  }));
}

export function problemsOfLoading(load: () => unknown): ConfigProblem[] {
  try {
    load();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return [...error.problems];
    throw error;
  }
}

function yamlValue(variable: string, text: string, onRepeatedKey: (place: TextPosition) => void): unknown {
  try {
    return parseYaml(text, { kind: "file", onRepeatedKey });
  } catch (error) {
    if (!(error instanceof InvalidText)) throw error;
    const { place, parts } = error;
    throw refusal(variable, [`line ${place?.line ?? 1}: ${parts.join("").replace(/\.$/, "")}`]);
  }
}

/** At most a hundred different messages. */
function refusal(variable: string, messages: string[]): ConfigError {
  const different = [...new Set(messages)].slice(0, FIELD_ERRORS_MAX);
  return new ConfigError(different.map((message) => ({ variable, message: `${message}.` })));
}
