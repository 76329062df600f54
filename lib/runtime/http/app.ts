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
import { isRecord } from "../../domain/json/index.ts";
import { isUlid } from "../../domain/schemas/index.ts";
import { schemaFailureAdapter, toApiError } from "./http-errors.ts";
import { isProbe } from "./probes.ts";
import { parseBody, readText } from "./request-body.ts";
import { contextOf, type RequestContext } from "./request-context.ts";

interface HttpAppOptions {
  /** Larger bodies get a 413. */
  bodyBytesMax: number;
  bodyBytesMaxOf?: Readonly<Record<string, number>>;
  /** Whether the app parses all bodies as I-JSON (default). Otherwise, routes read theirs with `readBytes`. */
  parseBodies?: boolean;
  /** If false, routes check {@link repeatedParameters} themselves, to report them together with other problems. */
  refuseRepeated?: boolean;
}

/** Any query parameter gets a 422. */
export const noQuery = Type.Object({}, { additionalProperties: false });

/**
 * Creates the app to which a service adds its routes. It refuses unknown fields, too large bodies and repeated query
 * parameters. Every error response has the error envelope (ER-1).
 */
export function httpApp(options: HttpAppOptions) {
  const app = new Elysia({
    adapter: schemaFailureAdapter,
    normalize: false,
    handler: { standardHostname: false },
  });
  const methodsAt = allowedMethods(app);
  const templates = new Map<string, string>();
  if (options.parseBodies !== false) {
    app.onParse({ as: "global" }, async ({ request, route }) => {
      const text = await readText(request, options.bodyBytesMaxOf?.[route] ?? options.bodyBytesMax);
      return text === "" ? {} : parseBody(text);
    });
  }
  return app
    .onTransform({ as: "global" }, ({ request, route, params }) => {
      const context = contextOf(request);
      context.route = templates.getOrInsertComputed(route, template);
      // A probe works with any query string, so its parameters are not checked.
      if (isProbe(route)) return;
      refuseBrokenParams(params);
      noteSubject(context, params);
      if (options.refuseRepeated === false) return;
      const repeated = repeatedParameters(request.url);
      if (repeated.length > 0) throw validationError(repeated);
    })
    .onError({ as: "global" }, ({ error: thrown, request, set }) => {
      const context = contextOf(request);
      const error = orMethodNotAllowed(toApiError(thrown), request, methodsAt);
      context.error = error;
      set.status = error.status;
      // The handler may have set headers for the response that this error replaces.
      set.headers = { ...error.headers };
      return envelope(error, context.request_id);
    });
}

/** Converts `/users/:user_id` to `/users/{user_id}`, the form in descriptions, logs and metrics. */
export function template(route: string): string {
  return route.replace(/:([A-Za-z_][A-Za-z0-9_]*)/g, "{$1}");
}

function noteSubject({ subject }: RequestContext, params: unknown): void {
  if (!isRecord(params)) return;
  for (const name of ["user_id", "organization_id", "member_id"] as const) {
    const id = params[name];
    if (typeof id === "string" && isUlid(id)) subject[name] = id;
  }
}

/** A malformed percent-escape. */
function refuseBrokenParams(params: unknown): void {
  if (!isRecord(params)) return;
  for (const value of Object.values(params)) {
    if (typeof value !== "string") throw notFound();
  }
}

/** Returns an error for each query parameter that a URL repeats. */
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
    message: `${shownKey(name)} must occur only once.`,
  }));
}

/** Returns the methods that an app allows for a path. Its routes are read at the first use, after it has them all. */
function allowedMethods(app: AnyElysia): (path: string) => ReadonlySet<string> {
  let paths: { segments: string[]; methods: string[] }[] | undefined;
  return (wanted) => {
    paths ??= Array.from(
      Map.groupBy(app.routes, ({ path }) => path),
      ([path, routes]) => ({
        segments: template(path).split("/"),
        methods: routes.flatMap(({ method }) => (method === "GET" ? [method, "HEAD"] : [method])),
      }),
    );
    const segments = wanted.split("/");
    return new Set(
      paths.filter((path) => matches(path.segments, segments)).flatMap(({ methods }) => methods),
    );
  };
}

/** Replaces a 404 with a 405 if the path exists with other methods (ER-10). */
function orMethodNotAllowed(
  error: ApiError,
  request: Request,
  methodsAt: (path: string) => ReadonlySet<string>,
): ApiError {
  if (error.status !== 404 || contextOf(request).route !== null) return error;
  const methods = methodsAt(new URL(request.url).pathname);
  if (methods.size === 0 || methods.has(request.method)) return error;
  return new ApiError("METHOD_NOT_ALLOWED", { headers: { Allow: [...methods].sort().join(", ") } });
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (part.startsWith("{") ? segments[index] !== "" : part === segments[index]))
  );
}
