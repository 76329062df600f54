import type { TSchema } from "@sinclair/typebox";
import type { TypeCheck } from "@sinclair/typebox/compiler";
import { type ElysiaAdapter, NotFoundError, ParseError } from "elysia";
import { BunAdapter } from "elysia/adapter/bun";
import {
  ApiError,
  type ErrorCode,
  errorCodes,
  fieldErrors,
  notFound,
  validationError,
} from "../../domain/errors/index.ts";
import { StoreUnavailable } from "../stores/errors.ts";

/** What a thrown value means to the caller. Whatever is not foreseen is a 500 with its cause in the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreUnavailable) return error.toApiError();
  if (error instanceof SchemaFailure) return fromSchemaFailure(error);
  if (error instanceof NotFoundError) return notFound();
  if (error instanceof ParseError) return fromParse(error);
  return new ApiError("INTERNAL_ERROR", { cause: error });
}

function fromSchemaFailure({ part, validator, value }: SchemaFailure): ApiError {
  if (part !== "response") return validationError(fieldErrors(validator.Schema(), value));
  const first = validator.Errors(value).First();
  const cause = new Error(`The answer does not fit its schema at ${first?.path}: ${first?.message}.`);
  return new ApiError("INTERNAL_ERROR", { cause });
}

function fromParse(error: ParseError): ApiError {
  if (error.cause instanceof ApiError) return error.cause;
  return new ApiError("INVALID_REQUEST", { message: "The body is not valid JSON.", cause: error });
}

/** Why it failed, for the log: the innermost cause, which names the fault and carries no secret of ours. */
export function reasonOf(error: unknown): string {
  let innermost: unknown = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  return innermost instanceof Error ? innermost.message : String(innermost);
}

/** A part of a request, or an answer, that does not fit its schema. */
class SchemaFailure extends Error {
  /** `body`, `query`, `params`, `headers`, or `response`. */
  readonly part: string;
  readonly validator: TypeCheck<TSchema>;
  readonly value: unknown;

  /** Called by the code that Elysia writes for a route, with the arguments of its own error. */
  constructor(part: string, validator: TypeCheck<TSchema>, value: unknown) {
    super(`The ${part} does not fit its schema.`);
    this.name = "SchemaFailure";
    this.part = part;
    this.validator = validator;
    this.value = value;
  }
}

/**
 * Elysia's adapter for Bun, with {@link SchemaFailure} in the place of Elysia's `ValidationError`. That one prints
 * the whole value with indentation, unless NODE_ENV is production: what a request could be made to cost, and what
 * the log would be told, depended on a variable that is none of ours.
 */
export const schemaFailureAdapter: ElysiaAdapter = {
  ...BunAdapter,
  composeHandler: {
    ...BunAdapter.composeHandler,
    inject: {
      ...BunAdapter.composeHandler.inject,
      error: { ValidationError: SchemaFailure, ParseError },
    },
  },
};

/** Refusals whose text repeats what was sent, which may be a credential in the wrong place. */
const REPEATING: ReadonlySet<ErrorCode> = new Set(["VALIDATION_ERROR", "CONFLICT", "ROUTE_CONFLICT"]);
/** Those whose details are of our own making. */
const DETAILED: ReadonlySet<ErrorCode> = new Set(["FORBIDDEN", "RATE_LIMITED", "PAYLOAD_TOO_LARGE"]);

/** Why a request was refused, for a line at the level `debug`: what the caller was told, but for what it had sent. */
export function refusalFields({ code, message, details }: ApiError) {
  return {
    code,
    reason: REPEATING.has(code) ? errorCodes[code].message : message,
    ...(DETAILED.has(code) && { details }),
  };
}
