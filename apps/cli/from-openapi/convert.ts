/** Converts a description to the routes of a service. */
import { isRecord } from "@ostiary/lib/domain/json";
import {
  type InlineRateLimit,
  METHODS,
  type Method,
  type MethodConfig,
  ROUTE_LIMITS_MAX,
  type RouteConfig,
  routeShape,
  SCOPES,
  type Scope,
  SERVICE_CONFIG_BYTES_MAX,
  type ServiceConfig,
  type StoredRoute,
  validateService,
} from "@ostiary/lib/domain/routes";
import { commentText } from "./comment.ts";
import { type Description, type JsonObject, NotExpressed } from "./description.ts";
import { LIMITS, limitsAt } from "./limits.ts";
import { type ConvertedPath, convertPath, firstServer, type Server } from "./paths.ts";
import { type Access, accessOf, DEFAULT_SCOPE } from "./security.ts";

export interface ConvertOptions {
  readonly service: string;
  readonly url: string;
  /** The scope of all routes, or undefined to choose by the description's security schemes. */
  readonly scope?: Scope;
  readonly prefix?: string;
}

/** A method of a route, with the summary and the comments that stand before it. */
export interface Verb {
  readonly method: Method;
  readonly config: MethodConfig;
  /** A sentence about the operation, or an empty text. */
  readonly summary: string;
  readonly comments: string[];
}

/** A route, or only comments about operations that are not expressed. */
export interface Entry {
  readonly scope: Scope;
  readonly comments: string[];
  route: { readonly path: string; readonly upstream?: string; readonly verbs: Verb[] } | null;
}

export interface Converted {
  readonly comments: readonly string[];
  readonly policies: Readonly<Record<string, InlineRateLimit>>;
  readonly entries: readonly Entry[];
  readonly operations: number;
  /** The number of problems: parts of the description that the document does not express. */
  readonly problems: number;
}

/** The words with which the comment about a problem begins. */
export const MARK = "Not expressed";
/** The keys of a path item that are methods, among them those that no route can have. */
const ITEM_METHODS = [...METHODS.map((method) => method.toLowerCase()), "trace", "query"];
const ITEM_FIELDS = [...ITEM_METHODS, "servers", ...LIMITS];
/** The bytes of a stored service that its routes may take; the rest is for its name, its url and its policies. */
const ROUTES_BYTES_MAX = SERVICE_CONFIG_BYTES_MAX - 8_192;
/** The maximum number of problems that have a comment of their own. */
const PROBLEMS_SHOWN_MAX = 2_000;
/** The maximum number of reasons in one comment. */
const REASONS_MAX = 3;
/** The name of the policies for limits that a description sets for all operations together. */
const POLICY = "description";

/** Converts the operations of one description. */
export class Conversion {
  readonly #description: Description;
  readonly #options: ConvertOptions;
  readonly #comments: string[] = [];
  readonly #policies: Record<string, InlineRateLimit> = {};
  readonly #entries: Entry[] = [];
  /** The first route of each method and shape. */
  readonly #served = new Map<string, string>();
  readonly #accesses = new Map<unknown, Access>();
  #server: Server = { host: "", base: "" };
  #bytes = 0;
  #operations = 0;
  #problems = 0;
  #omitted = 0;

  constructor(description: Description, options: ConvertOptions) {
    this.#description = description;
    this.#options = options;
  }

  run(): Converted {
    const { root, paths } = this.#description;
    this.#attempt(this.#comments, "The servers", () => {
      this.#server = firstServer(root) ?? this.#server;
    });
    this.#addPolicies(root);
    for (const [path, item] of paths) this.#addPath(path, item);
    if (this.#omitted > 0) {
      this.#comments.push(
        `${MARK}: ${this.#omitted} further operations. A service can have ${SERVICE_CONFIG_BYTES_MAX} bytes: split it.`,
      );
    }
    return {
      comments: this.#comments,
      policies: this.#policies,
      entries: this.#entries,
      operations: this.#operations,
      problems: this.#problems + this.#omitted,
    };
  }

  #addPolicies(root: JsonObject): void {
    const found = limitsAt(root, this.#description);
    for (const reason of found?.reasons ?? [])
      this.#problem(this.#comments, "A limit of all operations", reason);
    for (const [index, limit] of this.#first(this.#comments, found?.limits ?? []).entries()) {
      this.#policies[index === 0 ? POLICY : `${POLICY}-${index + 1}`] = limit;
    }
  }

  /** Calls `work`, and adds a comment for what it cannot express. */
  #attempt(comments: string[], what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof NotExpressed)) throw error;
      this.#problem(comments, what, error.message);
    }
  }

  #problem(comments: string[], what: string, reason: string): void {
    this.#problems += 1;
    if (this.#problems < PROBLEMS_SHOWN_MAX) comments.push(`${MARK}: ${what}. ${reason}`);
    else if (this.#problems === PROBLEMS_SHOWN_MAX) comments.push(`${MARK}: more than is shown here.`);
  }

  #addPath(written: string, value: unknown): void {
    const entries = new Map<Scope, Entry>();
    const entryOf = (scope: Scope): Entry => {
      const known = entries.get(scope);
      if (known !== undefined) return known;
      const entry: Entry = { scope, comments: [], route: null };
      entries.set(scope, entry);
      return entry;
    };
    const home = () => entries.values().next().value ?? entryOf(this.#options.scope ?? DEFAULT_SCOPE);
    const lost: string[] = [];
    this.#attempt(lost, `the path ${commentText(written)}`, () => {
      const item = this.#description.fieldsOf(value, ITEM_FIELDS);
      for (const key of ITEM_METHODS) {
        if (!Object.hasOwn(item, key)) continue;
        this.#operations += 1;
        if (this.#bytes > ROUTES_BYTES_MAX) this.#omitted += 1;
        else this.#addOperation(key, written, item, entryOf);
      }
    });
    if (lost.length > 0) home().comments.push(...lost);
    for (const entry of entries.values()) {
      if (entry.route !== null || entry.comments.length > 0) this.#entries.push(entry);
    }
  }

  #addOperation(key: string, written: string, item: JsonObject, entryOf: (scope: Scope) => Entry): void {
    const operation = isRecord(item[key]) ? item[key] : {};
    const access = this.#accessOf(operation);
    const name = `${key.toUpperCase()} ${commentText(written)}`;
    const entry = entryOf(access.scope);
    this.#attempt(entry.comments, name, () => {
      const method = methodOf(key);
      if (this.#isElsewhere(operation) || this.#isElsewhere(item)) {
        throw new NotExpressed("It has servers of its own: a service has one url.");
      }
      const path = convertPath(written, entry.scope, this.#server.base);
      const comments: string[] = [];
      const config: MethodConfig = {};
      const { required_labels } = access;
      if (required_labels !== undefined) config.required_labels = required_labels;
      this.#addLimits(config, { operation, item, comments, name });
      for (const reason of access.reasons) this.#problem(comments, name, reason);
      this.#addVerb(entry, path, { method, config, summary: summaryOf(operation), comments });
    });
  }

  /** Returns whether an operation or path names another server than the description does. */
  #isElsewhere(holder: JsonObject): boolean {
    const own = firstServer(holder);
    return own !== null && (own.host !== this.#server.host || own.base !== this.#server.base);
  }

  /** Reads the same requirements once, because many operations can share a huge list. */
  #accessOf({ security = this.#description.root.security }: JsonObject): Access {
    const known = this.#accesses.get(security);
    if (known !== undefined) return known;
    const access = accessOf(security, this.#description, this.#options.scope);
    this.#accesses.set(security, access);
    return access;
  }

  #addLimits(
    config: MethodConfig,
    place: { operation: JsonObject; item: JsonObject; comments: string[]; name: string },
  ): void {
    const { operation, item, comments, name } = place;
    const policies = Object.keys(this.#policies);
    const found = limitsAt(operation, this.#description) ?? limitsAt(item, this.#description);
    if (found === null) {
      if (policies.length > 0) config.rate_limit = alone(policies);
      return;
    }
    for (const reason of found.reasons) this.#problem(comments, name, reason);
    const limits = this.#first(comments, found.limits);
    if (limits.length > 0) config.rate_limit = alone(limits);
  }

  /** Returns as many limits as one route can have. */
  #first(comments: string[], limits: readonly InlineRateLimit[]): InlineRateLimit[] {
    if (limits.length > ROUTE_LIMITS_MAX) {
      this.#problem(comments, "some limits", `A route can have ${ROUTE_LIMITS_MAX}: the longest are kept.`);
    }
    return limits.slice(0, ROUTE_LIMITS_MAX);
  }

  #addVerb(entry: Entry, { path, upstream, renamed }: ConvertedPath, verb: Verb): void {
    const called = this.#options.prefix === undefined && this.#server.base === "" ? {} : { upstream };
    const row = this.#stored(entry.scope, { path, ...called }, verb);
    const key = `${verb.method} ${routeShape(row.path)}`;
    const served = this.#served.get(key);
    if (served !== undefined) {
      throw new NotExpressed(
        `The route ${served} serves the same requests: only the names or spellings differ.`,
      );
    }
    this.#served.set(key, `${verb.method} ${path}`);
    this.#bytes += JSON.stringify(row).length + 1;
    if (entry.route === null) {
      entry.route = { path, ...called, verbs: [] };
      entry.comments.push(...renamed);
    }
    entry.route.verbs.push(verb);
  }

  /** Returns the stored form of one method of a route. Leaves out its limits if a route cannot have them. */
  #stored(scope: Scope, route: Pick<RouteConfig, "path" | "upstream">, verb: Verb): StoredRoute {
    const { service, url, prefix } = this.#options;
    const { config, method, comments } = verb;
    const result = validateService(service, {
      url,
      rate_limits: this.#policies,
      [scope]: {
        ...(prefix !== undefined && { route_prefix: prefix }),
        routes: [{ ...route, methods: { [method]: config } }],
      },
    });
    const [row] = result.ok ? (result.service[scope]?.routes ?? []) : [];
    if (row !== undefined) return row;
    const reasons = result.ok ? [] : result.fields.slice(0, REASONS_MAX).map(({ message }) => message);
    if (config.rate_limit === undefined) throw new NotExpressed(reasons.join(" "));
    delete config.rate_limit;
    const stored = this.#stored(scope, route, verb);
    this.#problem(comments, `the limits of ${method} ${route.path}`, reasons.join(" "));
    return stored;
  }
}

function methodOf(key: string): Method {
  const method = METHODS.find((each) => each === key.toUpperCase());
  if (method === undefined) throw new NotExpressed(`A route has one of the methods ${METHODS.join(", ")}.`);
  if (method === "OPTIONS") throw new NotExpressed("The gateway responds to OPTIONS itself.");
  return method;
}

function summaryOf({ summary, description, operationId, deprecated }: JsonObject): string {
  const text = [summary, description, operationId].map(commentText).find((each) => each !== "") ?? "";
  return deprecated === true ? `${text} (deprecated)`.trim() : text;
}

/** Returns the only item of a list, or the list. */
function alone<Item>(items: Item[]): Item | Item[] {
  const [first] = items;
  return items.length === 1 && first !== undefined ? first : items;
}

/** Returns the problems of the options: the name, the url and the prefix. */
export function optionProblems({ service, url, scope = DEFAULT_SCOPE, prefix }: ConvertOptions): string[] {
  const config: ServiceConfig = {
    url,
    [scope]: { ...(prefix !== undefined && { route_prefix: prefix }), routes: [] },
  };
  const result = validateService(service, config);
  return result.ok ? [] : result.fields.map(({ message }) => message);
}

/** Returns the scopes that the converted service has, in the order of the document. */
export function scopesOf({ entries }: Converted): Scope[] {
  return SCOPES.filter((scope) => entries.some((entry) => entry.scope === scope));
}
