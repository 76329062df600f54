import type { ValueError } from "@sinclair/typebox/errors";
import { Elysia, NotFoundError, ParseError, ValidationError } from "elysia";
import { ApiError, notFound, validationError } from "../errors/index.ts";
import { StoreUnavailable } from "../stores/errors.ts";
import { parseJson, readText } from "./body.ts";
import { fieldErrors } from "./field-errors.ts";
import { contextOf } from "./request-context.ts";

export interface HttpAppOptions {
  /** Larger request bodies are 413. */
  body_bytes_max: number;
  /** false: routes that take a body read it themselves, with `readBytes`; default true, all bodies are JSON. */
  parse_bodies?: boolean;
}

/**
 * The Elysia app that every service's routes are added to: unknown fields are refused, bodies are read with
 * a bound and parsed as JSON, a query parameter given twice is 422, and every failure throws an `ApiError`
 * that the service's handler answers (contract 2).
 */
export function httpApp(options: HttpAppOptions) {
  const app = new Elysia({ normalize: false, handler: { standardHostname: false } });
  if (options.parse_bodies !== false) {
    app.onParse({ as: "global" }, async ({ request }) => {
      const text = await readText(request, options.body_bytes_max);
      return text === "" ? {} : parseJson(text);
    });
  }
  return app
    .onTransform({ as: "global" }, ({ request, route, params }) => {
      contextOf(request).route = template(route);
      refuseBrokenParams(params);
      refuseRepeatedParameters(request.url);
    })
    .onError({ as: "global" }, ({ error }) => {
      throw toApiError(error);
    });
}

/** What a thrown value means to the caller. Whatever is not foreseen is a 500 with its cause in the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreUnavailable) return error.toApiError();
  if (error instanceof ValidationError) return fromValidation(error);
  if (error instanceof NotFoundError) return notFound();
  if (error instanceof ParseError) return fromParse(error);
  return new ApiError("INTERNAL_ERROR", { cause: error });
}

function fromValidation(error: ValidationError): ApiError {
  if (error.type === "response") return new ApiError("INTERNAL_ERROR", { cause: error });
  return validationError(fieldErrors(validatorErrors(error)));
}

/** The findings of the compiled TypeBox check, the only kind of validator that our schemas give. */
function validatorErrors({ validator, value }: ValidationError): Iterable<ValueError> {
  return "Errors" in validator && typeof validator.Errors === "function" ? validator.Errors(value) : [];
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
  const start = url.indexOf("?");
  if (start < 0) return;
  const names = [...new URLSearchParams(url.slice(start + 1)).keys()];
  const repeated = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  if (repeated.length === 0) return;
  throw validationError(repeated.map((name) => ({ path: name, message: `${name} must be given once.` })));
}
