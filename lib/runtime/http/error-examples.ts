import type { TProperties, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  ApiError,
  type ErrorCode,
  type ErrorEnvelope,
  envelope,
  errorDetails,
  type FieldError,
  validationError,
} from "../../domain/errors/index.ts";
import { REQUEST_ID_EXAMPLE } from "../../domain/schemas/index.ts";
import { type DescribedError, type DocumentedError, describedError } from "./error-responses.ts";
import { fieldErrors } from "./field-errors.ts";
import { readPage } from "./lists.ts";

/** What the examples of an operation's errors are made from. */
export interface ErrorContext {
  body: TSchema | null;
  query: TSchema | null;
  /** The path's parameters by name, each with an example. */
  ids: ReadonlyMap<string, unknown>;
  body_bytes_max: number;
}

/** Messages that say more than a code's own. */
const messages: Partial<Record<ErrorCode, string>> = { INVALID_REQUEST: "The body is not valid JSON." };

/** The body that an operation would answer with this error, made as a real one is. */
export function errorExample(documented: DocumentedError, context: ErrorContext): ErrorEnvelope {
  const { code, message = messages[code], details }: DescribedError = describedError(documented);
  if (code === "VALIDATION_ERROR" && details === undefined) {
    return envelope(validationError(refusedFields(context), message), REQUEST_ID_EXAMPLE);
  }
  const said = details === undefined ? exampleDetails(code, context) : details;
  return envelope(new ApiError(code, { message, details: said ?? undefined }), REQUEST_ID_EXAMPLE);
}

function exampleDetails(code: ErrorCode, context: ErrorContext): Record<string, unknown> | null {
  if (code === "PAYLOAD_TOO_LARGE") return { max_size_bytes: context.body_bytes_max };
  if (code === "NOT_FOUND") return missing(context);
  const properties = errorDetails[code];
  return properties === undefined ? null : exampleOfEach(properties);
}

/** The last id of the path: `{"resource": "member", "id": "01K…"}`. */
function missing({ ids }: ErrorContext): Record<string, unknown> | null {
  const last = [...ids].at(-1);
  return last === undefined ? null : { resource: last[0].replace(/_id$/, ""), id: last[1] };
}

function exampleOfEach(properties: TProperties): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema)]));
}

function exampleOf({ examples, items, properties }: TSchema): unknown {
  if (Array.isArray(examples)) return examples[0];
  return items === undefined ? exampleOfEach(properties) : [exampleOf(items)];
}

/** What is wrong with a request that leaves out what it needs or, where it needs nothing, has too much. */
function refusedFields({ body, query }: ErrorContext): FieldError[] {
  if (body !== null)
    return [...wrong(body, {}), ...wrong(body, zeros(body)), ...wrong(body, UNKNOWN)].slice(0, 1);
  if (query?.properties.limit !== undefined) return readPage({ limit: "0" }).fields;
  return query === null ? [] : [...wrong(query, {}), ...wrong(query, UNKNOWN)].slice(0, 1);
}

const UNKNOWN = { verbose: "true" };

const wrong = (schema: TSchema, value: unknown) => fieldErrors(Value.Errors(schema, value));

function zeros({ properties }: TSchema): Record<string, number> {
  return Object.fromEntries(Object.keys(properties ?? {}).map((name) => [name, 0]));
}
