import { Elysia, NotFoundError, ParseError } from "elysia";
import { ApiError, type FieldError, notFound, shownKey, validationError } from "../../domain/errors/index.ts";
import { StoreUnavailable } from "../stores/errors.ts";
import { parseBody, readText } from "./body.ts";
import { fieldErrors } from "./field-errors.ts";
import { isProbe } from "./internal.ts";
import { contextOf } from "./request-context.ts";
import { SchemaFailure, schemaFailureAdapter } from "./schema-failure.ts";

export interface HttpAppOptions {
  /** Larger request bodies are 413. */
  body_bytes_max: number;
  /** false: routes that take a body read it themselves, with `readBytes`; default true, all bodies are JSON. */
  parse_bodies?: boolean;
  /** false: routes refuse `repeatedParameters` themselves, with what else is wrong; default true. */
  refuse_repeated?: boolean;
}

/**
 * The Elysia app that every service's routes are added to: unknown fields are refused, bodies are read with
 * a bound and parsed as JSON, a query parameter given twice is 422, and every failure throws an `ApiError`
 * that the service's handler answers (contract 2).
 */
export function httpApp(options: HttpAppOptions) {
  const app = new Elysia({
    adapter: schemaFailureAdapter,
    normalize: false,
    handler: { standardHostname: false },
  });
  if (options.parse_bodies !== false) {
    app.onParse({ as: "global" }, async ({ request }) => {
      const text = await readText(request, options.body_bytes_max);
      return text === "" ? {} : parseBody(text);
    });
  }
  return app
    .onTransform({ as: "global" }, ({ request, route, params }) => {
      contextOf(request).route = template(route);
      // a probe is answered whatever its query says
      if (isProbe(route)) return;
      refuseBrokenParams(params);
      if (options.refuse_repeated !== false) refuseRepeatedParameters(request.url);
    })
    .onError({ as: "global" }, ({ error }) => {
      throw toApiError(error);
    });
}

/** What a thrown value means to the caller. Whatever is not foreseen is a 500 with its cause in the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreUnavailable) return error.toApiError();
  if (error instanceof SchemaFailure) return fromSchemaFailure(error);
  if (error instanceof NotFoundError) return notFound();
  if (error instanceof ParseError) return fromParse(error);
  return new ApiError("INTERNAL_ERROR", { cause: error });
}

function fromSchemaFailure(failure: SchemaFailure): ApiError {
  const { part, validator, value } = failure;
  if (part === "response") {
    const first = validator.Errors(value).First();
    const cause = new Error(`The answer does not fit its schema at ${first?.path}: ${first?.message}.`);
    return new ApiError("INTERNAL_ERROR", { cause });
  }
  return validationError(fieldErrors(validator.Errors(value)));
}

function fromParse(error: ParseError): ApiError {
  if (error.cause instanceof ApiError) return error.cause;
  return new ApiError("INVALID_REQUEST", { message: "The body is not valid JSON.", cause: error });
}

/** `/users/:user_id` → `/users/{user_id}`, as specification, logs and metrics spell it. */
export function template(route: string): string {
  return route.replace(/:([A-Za-z_][A-Za-z0-9_]*)/g, "{$1}");
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
