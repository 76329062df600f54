/** Converts the paths of a description to paths of routes. */
import {
  PARAM_NAME_LENGTH_MAX,
  PATH_BYTES_MAX,
  pathViolations,
  type Scope,
  withoutTrailingSlashes,
} from "@ostiary/lib/domain/routes";
import { commentText } from "./comment.ts";
import { type JsonObject, NotExpressed } from "./description.ts";

/** A path of a description as a path of a route. */
export interface ConvertedPath {
  readonly path: string;
  /** The path that the service expects, with the params as `{path.…}`. */
  readonly upstream: string;
  /** The params that have another name in the route. */
  readonly renamed: readonly string[];
}

const PARAM = /^\{([^{}]*)\}$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const WILDCARD = /^\*+$|\{[+*/.;?&#][^}]*\}|\{[^}]*[+*]\}/;

/**
 * Converts a path. Gives a param another name if a route cannot have its name.
 *
 * @param base the path that the service expects before each path
 * @throws NotExpressed with the reason if no route can have the path
 */
export function convertPath(written: string, scope: Scope, base: string): ConvertedPath {
  if (written.length > PATH_BYTES_MAX) throw new NotExpressed(`A path can have ${PATH_BYTES_MAX} bytes.`);
  if (/[?#]/.test(written)) throw new NotExpressed("A route has no query and no fragment.");
  const names = new Set<string>();
  const renamed: string[] = [];
  const segments = written.split("/").map((segment) => {
    if (WILDCARD.test(segment)) throw new NotExpressed("A route has no wildcard.");
    if (segment.split("{").length > 2) throw new NotExpressed("A segment of a route has at most one param.");
    const name = PARAM.exec(segment)?.[1];
    if (name === undefined || name === "") return segment;
    const own = NAME.test(name) && name.length <= PARAM_NAME_LENGTH_MAX ? name : freeName(name, names);
    if (own !== name) renamed.push(`{${commentText(name)}} is {${own}} here.`);
    names.add(own);
    return `{${own}}`;
  });
  const path = segments.join("/");
  const violations = pathViolations(path, scope);
  if (violations.length > 0) throw new NotExpressed([...violations, ...advice(path, scope, base)].join(" "));
  return { path, upstream: base + path.replaceAll("{", "{path."), renamed };
}

/** Returns a valid name of a param that is not in `taken`. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=[0-9])/, "_");
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? "" : `_${number}`;
    const free = plain.slice(0, PARAM_NAME_LENGTH_MAX - suffix.length) + suffix;
    if (!taken.has(free)) return free;
  }
}

/** Returns a sentence that says how to publish the path under another one, if its spelling is the only problem. */
function advice(path: string, scope: Scope, base: string): string[] {
  const lower = path.replace(/\{[^{}/]*\}|[^{}]+/g, (part) =>
    part.startsWith("{") ? part : part.toLowerCase(),
  );
  const other = lower === "/" ? lower : withoutTrailingSlashes(lower);
  if (other === path || pathViolations(other, scope).length > 0) return [];
  return [`Write path: ${other} and upstream: ${base}${path.replaceAll("{", "{path.")}.`];
}

/** The address of a description's service: its host and port, and the path before each path. */
export interface Server {
  readonly host: string;
  readonly base: string;
}

/**
 * Returns the first server of a description, path or operation, or null if it names none.
 *
 * @throws NotExpressed if the address of the server is not a URL
 */
export function firstServer({ servers }: JsonObject): Server | null {
  const [first] = Array.isArray(servers) ? servers : [];
  if (typeof first?.url !== "string") return null;
  const url = String(first.url).replace(/\{([^{}]*)\}/g, (_, name: string) =>
    defaultOf(first.variables, name),
  );
  // The addresses may be relative to the address of the description.
  const parsed = URL.parse(url, "http://service");
  if (parsed === null) throw new NotExpressed("The address of the first server is not a URL.");
  return { host: parsed.host, base: withoutTrailingSlashes(parsed.pathname) };
}

function defaultOf(variables: unknown, name: string): string {
  const all = Object(variables);
  return Object.hasOwn(all, name) ? String(Object(all[name]).default ?? "") : "";
}
