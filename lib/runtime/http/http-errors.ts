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
import { CredentialRefusal } from "../tokens/credential-refusal.ts";

/** An unexpected value becomes a 500, with the value as the cause for the log. */
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
  const cause = new Error(`The response does not match its schema at ${first?.path}: ${first?.message}.`);
  return new ApiError("INTERNAL_ERROR", { cause });
}

function fromParse(error: ParseError): ApiError {
  if (error.cause instanceof ApiError) return error.cause;
  return new ApiError("INVALID_REQUEST", { message: "The body is not valid JSON.", cause: error });
}

/** The error for a part of a request, or a response, that does not match its schema. */
class SchemaFailure extends Error {
  readonly part: string;
  readonly validator: TypeCheck<TSchema>;
  readonly value: unknown;

  /** Takes the arguments that Elysia's generated code passes to its own `ValidationError`. */
  constructor(part: string, validator: TypeCheck<TSchema>, value: unknown) {
    super(`The ${part} does not match its schema.`);
    this.name = "SchemaFailure";
    this.part = part;
    this.validator = validator;
    this.value = value;
  }
}

/**
 * Elysia's own `ValidationError` prints the whole value unless NODE_ENV is production. The cost of a request and the
 * content of the log would depend on NODE_ENV, which this project does not own.
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

/** The codes of errors with messages that repeat input, which can be a credential in the wrong field. */
const REPEATING: ReadonlySet<ErrorCode> = new Set(["VALIDATION_ERROR", "CONFLICT", "ROUTE_CONFLICT"]);
/** The codes of errors with details that never repeat input. */
const DETAILED: ReadonlySet<ErrorCode> = new Set(["FORBIDDEN", "RATE_LIMITED", "PAYLOAD_TOO_LARGE"]);

/** Fields for the `debug` line about a refused request, without repeated input. */
export function refusalFields({ code, message, details, cause }: ApiError) {
  return {
    code,
    reason: REPEATING.has(code) ? errorCodes[code].message : message,
    ...(DETAILED.has(code) && { details }),
    ...(cause instanceof CredentialRefusal && { credential: cause.reason, detail: cause.detail }),
  };
}
