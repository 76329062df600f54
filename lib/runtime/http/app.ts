import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import {
  ApiError,
  envelope,
  type FieldError,
  notFound,
  shownKey,
  validationError,
} from "../../domain/errors/index.ts";
import { isUlid } from "../../domain/schemas/index.ts";
import { schemaFailureAdapter, toApiError } from "./errors.ts";
import { isProbe } from "./probes.ts";
import { parseBody, readText } from "./request-body.ts";
import { contextOf, type RequestContext } from "./request-context.ts";

export interface HttpAppOptions {
  /** Larger request bodies are 413. */
  body_bytes_max: number;
  /** Other limits, by the route that has one. */
  body_bytes_max_of?: Readonly<Record<string, number>>;
  /** false: routes that take a body read it themselves, with `readBytes`; default true, all bodies are JSON. */
  parse_bodies?: boolean;
  /** false: routes refuse `repeatedParameters` themselves, with what else is wrong; default true. */
  refuse_repeated?: boolean;
}

/** For a `guard` around operations that take no query: any parameter is 422. A route's own query adds to it. */
export const noQuery = Type.Object({}, { additionalProperties: false });

/**
 * The Elysia app that every service's routes are added to: unknown fields are refused, bodies are read with
 * a bound and parsed as JSON, a query parameter given twice is 422, and whatever is thrown is answered with the
 * envelope (contract 2).
 */
export function httpApp(options: HttpAppOptions) {
  const app = new Elysia({
    adapter: schemaFailureAdapter,
    normalize: false,
    handler: { standardHostname: false },
  });
  const allowed = new AllowedMethods(app);
  const templateOf = remembered(template);
  if (options.parse_bodies !== false) {
    app.onParse({ as: "global" }, async ({ request, route }) => {
      const text = await readText(request, options.body_bytes_max_of?.[route] ?? options.body_bytes_max);
      return text === "" ? {} : parseBody(text);
    });
  }
  return app
    .onTransform({ as: "global" }, ({ request, route, params }) => {
      const context = contextOf(request);
      context.route = templateOf(route);
      // a probe is answered whatever its query says
      if (isProbe(route)) return;
      refuseBrokenParams(params);
      noteSubject(context, params);
      if (options.refuse_repeated !== false) refuseRepeatedParameters(request.url);
    })
    .onError({ as: "global" }, ({ error: thrown, request, set }) => {
      const context = contextOf(request);
      const error = allowed.orMethodNotAllowed(toApiError(thrown), request);
      context.error = error;
      set.status = error.status;
      // what the handler had set belongs to the answer that it did not give
      set.headers = { ...error.headers };
      return envelope(error, context.request_id);
    });
}

/** `/users/:user_id` → `/users/{user_id}`, as specification, logs and metrics spell it. */
export function template(route: string): string {
  return route.replace(/:([A-Za-z_][A-Za-z0-9_]*)/g, "{$1}");
}

/** `spell`, asked once for each of the few texts that there are. */
function remembered(spell: (text: string) => string): (text: string) => string {
  const spelled = new Map<string, string>();
  return (text) => {
    const known = spelled.get(text);
    if (known !== undefined) return known;
    const made = spell(text);
    spelled.set(text, made);
    return made;
  };
}

/** Names whom a request is about, by the ids of its path, in its log line. */
function noteSubject({ subject }: RequestContext, params: unknown): void {
  if (typeof params !== "object" || params === null) return;
  for (const name of ["user_id", "organization_id", "member_id"] as const) {
    const id: unknown = Reflect.get(params, name);
    if (typeof id === "string" && isUlid(id)) subject[name] = id;
  }
}

/** A path parameter with a broken percent-escape names nothing. */
function refuseBrokenParams(params: unknown): void {
  if (typeof params !== "object" || params === null) return;
  for (const value of Object.values(params)) {
    if (typeof value !== "string") throw notFound();
  }
}

function refuseRepeatedParameters(url: string): void {
  const repeated = repeatedParameters(url);
  if (repeated.length > 0) throw validationError(repeated);
}

/** The query parameters that a URL gives more than once. */
export function repeatedParameters(url: string): FieldError[] {
  const start = url.indexOf("?");
  if (start < 0) return [];
  const once = new Set<string>();
  const repeated = new Set<string>();
  for (const name of new URLSearchParams(url.slice(start + 1)).keys()) {
    (once.has(name) ? repeated : once).add(name);
  }
  return Array.from(repeated, (name) => ({
    path: shownKey(name),
    message: `${shownKey(name)} must be given once.`,
  }));
}

/** The methods of each path of an app. */
class AllowedMethods {
  readonly #app: AnyElysia;
  /** Path templates split into segments, each with its methods; made when the app has all of its routes. */
  #paths: { segments: string[]; methods: Set<string> }[] | undefined;

  constructor(app: AnyElysia) {
    this.#app = app;
  }

  /** A 404 for a path that exists under other methods is a 405 (contract 2). */
  orMethodNotAllowed(error: ApiError, request: Request): ApiError {
    if (error.status !== 404 || contextOf(request).route !== null) return error;
    const methods = this.#methodsAt(new URL(request.url).pathname.split("/"));
    if (methods.size === 0 || methods.has(request.method)) return error;
    return new ApiError("METHOD_NOT_ALLOWED", { headers: { Allow: [...methods].sort().join(", ") } });
  }

  #methodsAt(segments: readonly string[]): Set<string> {
    this.#paths ??= this.#read();
    const paths = this.#paths.filter((path) => matches(path.segments, segments));
    return new Set(paths.flatMap(({ methods }) => [...methods]));
  }

  #read() {
    const byPath = Map.groupBy(this.#app.routes, ({ path }) => path);
    return Array.from(byPath, ([path, routes]) => ({
      segments: template(path).split("/"),
      methods: new Set(routes.flatMap(({ method }) => (method === "GET" ? [method, "HEAD"] : [method]))),
    }));
  }
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (part.startsWith("{") ? segments[index] !== "" : part === segments[index]))
  );
}
