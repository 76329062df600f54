/**
 * The grammar of a route's full path (RG-15 to RG-20).
 *
 * The gateway matches paths after WHATWG URL parsing. The grammar refuses spellings that this parsing never
 * produces (dot segments, a backslash, a raw `<`), because no request could reach them.
 */

import { isReadAsDots } from "./folded-segment.ts";
import { PARAM_NAME_LENGTH_MAX, PATH_BYTES_MAX, PATH_PARAMS_MAX } from "./maximum-sizes.ts";
import { PATH_TOO_LONG } from "./schema-messages.ts";
import { type Scope, SUBJECT_FIELDS } from "./service-schema.ts";
import { joinPrefix } from "./stored-form.ts";

export type Segment = { literal: string } | { param: string };

const PARAM = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const NOT_VISIBLE_ASCII = /[^\x21-\x7e]/;
/** Characters that URL parsing rewrites, cuts off or cannot read. */
const NOT_IN_A_URL_PATH = /["#<>?\\^`]|%(?![0-9A-Fa-f]{2})/;
/** A quick test that matches every path that is not canonical, and some canonical paths. */
const PERHAPS_NOT_CANONICAL = /[A-Z%]|\/\.{0,2}(?:[;/]|$)/;
/** An escape of an unreserved character: a letter, a digit, `-`, `.`, `_` or `~`. */
const NEEDLESS_ESCAPE = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi;
const BRACED_OR_NOT = /\{[^{}/]*\}|[^{}]+|[{}]/g;

/** Splits a valid path into segments; `/` has no segments. */
export function segmentsOf(path: string): Segment[] {
  if (path === "/") return [];
  return path
    .slice(1)
    .split("/")
    .map((text) => (text.startsWith("{") ? { param: text.slice(1, -1) } : { literal: text }));
}

export function paramNames(path: string): string[] {
  return segmentsOf(path).flatMap((segment) => ("param" in segment ? [segment.param] : []));
}

export interface Prefix {
  readonly text: string;
  readonly params: readonly string[];
}

/**
 * Returns the reasons why `prefix` followed by `path` cannot be a route's full path in `scope`. Returns an
 * empty list for a valid path. The function does not check the prefix again, because thousands of routes may share
 * one long prefix.
 */
export function pathViolations(path: string, scope: Scope, prefix?: Prefix): string[] {
  if (!path.startsWith("/")) return ["A path must start with `/`."];
  const full = joinPrefix(prefix?.text, path);
  if (full.length > PATH_BYTES_MAX) {
    return [PATH_TOO_LONG];
  }
  const character = characterViolation(path);
  if (character !== null) return [character];
  const violations = paramViolations(path, scope, prefix?.params ?? []);
  if (canonicalPath(path) !== path) {
    const canonical = canonicalPath(full);
    violations.push(`The full path \`${full}\` is not canonical: the canonical form is \`${canonical}\`.`);
  }
  return violations;
}

/**
 * Returns the message about a character that a URL path cannot contain, or null if `path` has no such
 * character.
 */
export function characterViolation(path: string): string | null {
  const unseen = NOT_VISIBLE_ASCII.exec(path)?.[0];
  if (unseen !== undefined) {
    return "A path can have only visible ASCII characters: percent-encode all others, such as a space as `%20`.";
  }
  const refused = NOT_IN_A_URL_PATH.exec(path)?.[0];
  if (refused === undefined) return null;
  if (refused === "%") return "A `%` in a path must be followed by two hexadecimal digits, such as `%20`.";
  return `A path cannot contain \`${refused}\`: percent-encode it as \`%${refused.charCodeAt(0).toString(16)}\`.`;
}

/**
 * Returns the canonical spelling of `path`: lower case outside params, no escaped unreserved character, no
 * segment that a service may read as empty or as dots, no trailing slash.
 */
function canonicalPath(path: string): string {
  if (!PERHAPS_NOT_CANONICAL.test(path)) return path;
  const plain = path.replace(BRACED_OR_NOT, (part) =>
    part.startsWith("{") ? part : part.replace(NEEDLESS_ESCAPE, decodeURIComponent).toLowerCase(),
  );
  const segments: string[] = [];
  for (const segment of plain.split("/")) {
    if (!isReadAsDots(segment)) segments.push(segment);
    else if (segment.startsWith("..")) segments.pop();
  }
  return `/${segments.join("/")}`;
}

/** @param before the names of the prefix's params */
function paramViolations(path: string, scope: Scope, before: readonly string[]): string[] {
  if (!path.includes("{") && !path.includes("}")) return [];
  const violations: string[] = [];
  const names = new Set(before);
  const braced = path.split("/").filter((segment) => segment.includes("{") || segment.includes("}"));
  for (const segment of braced) {
    const name = PARAM.exec(segment)?.[1];
    if (name === undefined) violations.push(badParam(segment));
    else violations.push(...nameViolations(name, names, scope));
  }
  if (before.length + braced.length > PATH_PARAMS_MAX)
    violations.push(`A path can have at most ${PATH_PARAMS_MAX} params.`);
  return violations;
}

function nameViolations(name: string, seen: Set<string>, scope: Scope): string[] {
  const violations: string[] = [];
  if (name.length > PARAM_NAME_LENGTH_MAX) {
    violations.push(`A param's name can have at most ${PARAM_NAME_LENGTH_MAX} characters.`);
  }
  if (seen.has(name))
    violations.push(`The param {${name}} occurs twice in this path: give each param a different name.`);
  seen.add(name);
  const reserved: readonly string[] = SUBJECT_FIELDS[scope];
  if (reserved.includes(name)) {
    violations.push(
      `{${name}} cannot be a param of a route in scope ${scope}: in upstream, write the caller's id as {subject.${name}}.`,
    );
  }
  return violations;
}

function badParam(segment: string): string {
  if (!segment.startsWith("{") || !segment.endsWith("}") || /[{}]/.test(segment.slice(1, -1))) {
    return "A param must fill a whole segment of the path, written `{name}`.";
  }
  return "A param's name must start with a letter or `_`, followed by letters, digits and `_`, such as `{widget_id}`.";
}
