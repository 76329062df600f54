/**
 * The grammar of paths: what a route's full path may look like (Gateway specification, Validation rules 2-4).
 *
 * The gateway matches paths as the WHATWG URL rules leave them. A spelling that those rules never produce
 * (dot segments, a backslash, a raw `<`) would make a route that no request can reach, so it is refused.
 */
import { joinPrefix } from "./expand.ts";
import { PARAM_NAME_LENGTH_MAX, PATH_BYTES_MAX, PATH_PARAMS_MAX } from "./limits.ts";
import { PATH_TOO_LONG } from "./messages.ts";
import { type Scope, SUBJECT_FIELDS } from "./schema.ts";

/** One segment of a valid path. */
export type Segment = { literal: string } | { param: string };

const PARAM = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const NOT_VISIBLE_ASCII = /[^\x21-\x7e]/;
/** What URL parsing would rewrite, cut off, or can not read. */
const NOT_IN_A_URL_PATH = /["#<>?\\^`]|%(?![0-9A-Fa-f]{2})/;
/** What every path that is not canonical has, and some that are. */
const PERHAPS_NOT_CANONICAL = /[A-Z]|\/(?:\/|$|(?:\.|%2e){1,2}(?:\/|$))/;
const BRACED_OR_NOT = /\{[^{}/]*\}|[^{}]+|[{}]/g;

/** Cuts a valid path into segments; `/` has none. */
export function segmentsOf(path: string): Segment[] {
  if (path === "/") return [];
  return path
    .slice(1)
    .split("/")
    .map((text) => (text.startsWith("{") ? { param: text.slice(1, -1) } : { literal: text }));
}

/** The names of the params of a valid path, from the left. */
export function paramNames(path: string): string[] {
  return segmentsOf(path).flatMap((segment) => ("param" in segment ? [segment.param] : []));
}

/** What stands in front of the paths of a scope's routes, valid by itself, and the params in it. */
export interface Prefix {
  readonly text: string;
  readonly params: readonly string[];
}

/**
 * Why `path` behind `prefix` can not be the full path of a route of `scope`; empty when it can. What holds for
 * the prefix alone is not looked at again, since thousands of routes may share a long one.
 */
export function pathFaults(path: string, scope: Scope, prefix?: Prefix): string[] {
  if (!path.startsWith("/")) return ["A path is `/` or starts with `/`."];
  const full = joinPrefix(prefix?.text, path);
  if (full.length > PATH_BYTES_MAX) {
    return [PATH_TOO_LONG];
  }
  const character = characterFault(path);
  if (character !== null) return [character];
  const faults = paramFaults(path, scope, prefix?.params ?? []);
  if (canonicalPath(path) !== path) {
    const canonical = canonicalPath(full);
    faults.push(`The full path \`${full}\` is not canonical: the canonical form is \`${canonical}\`.`);
  }
  return faults;
}

/** Why the characters of a path or template can not stand in a URL's path; null when they can. */
export function characterFault(path: string): string | null {
  const unseen = NOT_VISIBLE_ASCII.exec(path)?.[0];
  if (unseen !== undefined) {
    return "A path holds visible ASCII characters only: percent-encode spaces and everything else, such as `%20`.";
  }
  const refused = NOT_IN_A_URL_PATH.exec(path)?.[0];
  if (refused === undefined) return null;
  if (refused === "%") return "A `%` in a path starts an escape of two hexadecimal digits, such as `%20`.";
  return `A path can not hold \`${refused}\`: percent-encode it as \`%${refused.charCodeAt(0).toString(16)}\`.`;
}

/** How `path` is to be written: lower case outside params, no empty or dot segment, no trailing slash. */
export function canonicalPath(path: string): string {
  if (!PERHAPS_NOT_CANONICAL.test(path)) return path;
  const lower = path.replace(BRACED_OR_NOT, (part) => (part.startsWith("{") ? part : part.toLowerCase()));
  const segments: string[] = [];
  for (const segment of lower.split("/")) {
    const dots = segment.replaceAll("%2e", ".");
    if (dots === "..") segments.pop();
    else if (dots !== "" && dots !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}

/** @param before the params of the prefix */
function paramFaults(path: string, scope: Scope, before: readonly string[]): string[] {
  if (!path.includes("{") && !path.includes("}")) return [];
  const faults: string[] = [];
  const names = new Set(before);
  const braced = path.split("/").filter((segment) => segment.includes("{") || segment.includes("}"));
  for (const segment of braced) {
    const name = PARAM.exec(segment)?.[1];
    if (name === undefined) faults.push(badParam(segment));
    else faults.push(...nameFaults(name, names, scope));
  }
  if (before.length + braced.length > PATH_PARAMS_MAX)
    faults.push(`A path has at most ${PATH_PARAMS_MAX} params.`);
  return faults;
}

function nameFaults(name: string, seen: Set<string>, scope: Scope): string[] {
  const faults: string[] = [];
  if (name.length > PARAM_NAME_LENGTH_MAX) {
    faults.push(`A param's name has at most ${PARAM_NAME_LENGTH_MAX} characters.`);
  }
  if (seen.has(name))
    faults.push(`The param {${name}} stands twice in this path: give each a name of its own.`);
  seen.add(name);
  const reserved: readonly string[] = SUBJECT_FIELDS[scope];
  if (reserved.includes(name)) {
    faults.push(
      `{${name}} can not be a param of a route in scope ${scope}: the caller's is {subject.${name}}, in upstream only.`,
    );
  }
  return faults;
}

function badParam(segment: string): string {
  if (!segment.startsWith("{") || !segment.endsWith("}") || /[{}]/.test(segment.slice(1, -1))) {
    return "A param fills a whole segment of the path, written `{name}`.";
  }
  return "A param's name starts with a letter or `_` and goes on with letters, digits and `_`, such as `{widget_id}`.";
}
