import { readFileSync } from "node:fs";
import type { TSchema } from "@sinclair/typebox";
import { type Document, isMap, isNode, LineCounter, parseDocument, visit } from "yaml";
import { FIELD_ERRORS_MAX, violationsOf } from "../../domain/errors/index.ts";
import { ConfigError, type ConfigProblem } from "./load.ts";

/** A problem in a file. `path` leads from the top of the file to the invalid key. */
export interface FileProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * Returns the text of the file that `variable` names.
 *
 * @throws ConfigError if the file cannot be read
 */
export function readTextFile(variable: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw refusal(variable, [`names ${path}, which cannot be read`]);
  }
}

/**
 * Parses the YAML of the file that `variable` names, and returns its value.
 *
 * @param problemsOf returns all problems of the value
 * @throws ConfigError with every problem and its line
 */
export function parseYamlFile(
  variable: string,
  text: string,
  problemsOf: (value: unknown) => readonly FileProblem[],
): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, stringKeys: true });
  const flaws = [...document.errors, ...document.warnings];
  const found = flaws.map(({ pos, code }) => `line ${lines.linePos(pos[0]).line}: ${yamlFlaw(code)}`);
  // Malformed YAML has no value to check. A file with only duplicate keys has one, so its checks continue.
  if (flaws.some(({ code }) => code !== "DUPLICATE_KEY")) throw refusal(variable, found);
  const value: unknown = plainValue(variable, document, lines);
  for (const { path, message } of problemsOf(value)) {
    found.push(`line ${lineOf(document, lines, path)}: ${message}`);
  }
  if (found.length > 0) throw refusal(variable, found);
  return value;
}

/** Returns the problems that a schema finds in the value of a file. */
export function shapeProblems(schema: TSchema, value: unknown): FileProblem[] {
  return violationsOf(schema, value).all.map(({ path, message }) => ({
    path,
    message: message.replace(/^The body/, "The file").replace(/\.$/, ""),
  }));
}

/** Runs `load` and returns the problems of the ConfigError that it throws. */
export function problemsOfLoading(load: () => unknown): ConfigProblem[] {
  try {
    load();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return [...error.problems];
    throw error;
  }
}

function plainValue(variable: string, document: Document, lines: LineCounter): unknown {
  try {
    return document.toJS();
  } catch {
    const unresolved = unresolvedAliases(document, lines);
    throw refusal(variable, unresolved.length > 0 ? unresolved : ["has aliases that expand without bound"]);
  }
}

/** Returns a problem for each alias without an anchor before it. */
function unresolvedAliases(document: Document, lines: LineCounter): string[] {
  const found: string[] = [];
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return;
      const { line } = lines.linePos(alias.range?.[0] ?? 0);
      found.push(`line ${line}: the alias *${alias.source} has no anchor &${alias.source} before it`);
    },
  });
  return found;
}

/**
 * Returns the line of the key at the end of `path`. If the key does not exist, returns the line of the
 * nearest existing key above it.
 */
function lineOf(document: Document, lines: LineCounter, path: readonly (string | number)[]): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    const pair = isMap(parent) ? parent.items.find(({ key }) => String(key) === String(last)) : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

/** Returns the message for an error code of the parser. */
function yamlFlaw(code: string): string {
  return code === "DUPLICATE_KEY" ? "a key occurs twice in one map" : "not valid YAML";
}

/**
 * Returns an error with up to a hundred different messages. More are useless: one unclosed bracket causes a
 * message for every line below it.
 */
function refusal(variable: string, messages: string[]): ConfigError {
  const told = [...new Set(messages)].slice(0, FIELD_ERRORS_MAX);
  return new ConfigError(told.map((message) => ({ variable, message: `${message}.` })));
}
