import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import {
  ApiError,
  type ErrorCode,
  ErrorEnvelope,
  envelope,
  errorCodes,
  errorDetails,
  type FieldError,
  fieldErrors,
  validationError,
  wireCode,
} from "../domain/errors/index.ts";
import { isRecord } from "../domain/json/index.ts";
import { REQUEST_ID_EXAMPLE } from "../domain/schemas/index.ts";
import { sampleOf } from "./schema-samples.ts";
import { mapValues } from "./schemas.ts";

/** An error that an operation can return: its code, or its code with a more specific example. */
export type DocumentedError<Code extends ErrorCode = ErrorCode> = Code | DescribedError<Code>;

export interface DescribedError<Code extends ErrorCode = ErrorCode> {
  code: Code;
  message?: string;
  details?: Record<string, unknown> | null;
}

/** The responses for some error codes, by status. The body of each is the error envelope. */
type ErrorResponses<Code extends ErrorCode> = {
  [Status in (typeof errorCodes)[Code]["status"]]: typeof ErrorEnvelope;
};

const retryAfter = (description: string) => ({
  "Retry-After": Type.Integer({ minimum: 0, description, examples: [10] }),
});

const errorHeaders: Partial<Record<ErrorCode, object>> = {
  RATE_LIMITED: retryAfter("Seconds to wait before the next attempt."),
  SERVICE_UNAVAILABLE: retryAfter("Seconds to wait before the next attempt, if known."),
};

/**
 * Returns error responses for the `response` of an operation, next to the success response: `response: { 200:
 * User, ...errorResponses("NOT_FOUND", "VALIDATION_ERROR") }`. openapi.ts adds examples that fit the
 * operation.
 */
export function errorResponses<Code extends ErrorCode>(
  ...errors: DocumentedError<Code>[]
): ErrorResponses<Code> {
  const byStatus: Record<number, typeof ErrorEnvelope> = {};
  for (const error of errors) {
    const { code } = describedError(error);
    const { status, message } = errorCodes[code];
    const line = `${wireCode(code)}: ${message}`;
    const before = byStatus[status];
    byStatus[status] = {
      ...ErrorEnvelope,
      response_description: before === undefined ? line : `${before.response_description}\n\n${line}`,
      response_headers: { ...before?.response_headers, ...errorHeaders[code] },
      response_errors: [...(before?.response_errors ?? []), error],
    };
  }
  return ofCodes<Code>(byStatus);
}

export function describedError<Code extends ErrorCode>(error: DocumentedError<Code>): DescribedError<Code> {
  return typeof error === "string" ? { code: error } : error;
}

/** Returns the errors of a response that {@link errorResponses} made. */
export function errorsOf(schema: unknown): DocumentedError[] {
  const listed = isRecord(schema) ? schema.response_errors : [];
  return Array.isArray(listed) ? listed.filter(isDocumentedError) : [];
}

function isDocumentedError(value: unknown): value is DocumentedError {
  const code = isRecord(value) ? value.code : value;
  return typeof code === "string" && code in errorCodes;
}

/** The schemas of the fields in `details`, by error code. */
export type ErrorDetails = Readonly<Partial<Record<ErrorCode, TProperties>>>;

/**
 * Returns the schema of the error envelope for these codes, with the details that they can have.
 *
 * @param own the details of some codes, in place of the common details
 */
export function documentedEnvelope(codes: ReadonlySet<ErrorCode>, own: ErrorDetails = {}) {
  const fields = Object.assign({}, ...[...codes].map((code) => own[code] ?? errorDetails[code]));
  const details = Type.Partial(Type.Object(fields), {
    additionalProperties: true,
    title: "Error details",
    description: "Details of the error. The description of each property names its error code.",
  });
  const { error } = ErrorEnvelope.properties;
  return Type.Object(
    {
      error: Type.Object(
        {
          ...error.properties,
          details: Type.Union([details, Type.Null()], { description: "Details that depend on the code." }),
        },
        { title: "Error body", description: "The error." },
      ),
    },
    { additionalProperties: false, title: ErrorEnvelope.title, description: ErrorEnvelope.description },
  );
}

/** Casts the responses. This is safe, because {@link errorResponses} sets the status of every code. */
function ofCodes<Code extends ErrorCode>(
  byStatus: Record<number, typeof ErrorEnvelope>,
): ErrorResponses<Code> {
  // biome-ignore lint/plugin: the comment above the function says why this is safe
  return byStatus as ErrorResponses<Code>;
}

export interface ErrorContext {
  body: TSchema | null;
  query: TSchema | null;
  /** The example value of each path parameter, by name. */
  ids: ReadonlyMap<string, unknown>;
  bodyBytesMax: number;
}

const messages: Partial<Record<ErrorCode, string>> = { INVALID_REQUEST: "The body is not valid JSON." };

/** Returns an example body of an error. The body is built by the same code as the body of a real error. */
export function errorExample(documented: DocumentedError, context: ErrorContext): ErrorEnvelope {
  const { code, message = messages[code], details }: DescribedError = describedError(documented);
  if (code === "VALIDATION_ERROR" && details === undefined) {
    return envelope(validationError(refusedFields(context), message), REQUEST_ID_EXAMPLE);
  }
  const shown = details === undefined ? exampleDetails(code, context) : details;
  return envelope(new ApiError(code, { message, details: shown ?? undefined }), REQUEST_ID_EXAMPLE);
}

function exampleDetails(code: ErrorCode, context: ErrorContext): Record<string, unknown> | null {
  if (code === "PAYLOAD_TOO_LARGE") return { max_size_bytes: context.bodyBytesMax };
  if (code === "NOT_FOUND") return missing(context);
  const properties = errorDetails[code];
  return properties === undefined
    ? null
    : mapValues(properties, (schema) => sampleOf(schema, () => undefined));
}

/** Returns the details of a NOT_FOUND for the last id of the path: `{"resource": "member", "id": "01K…"}`. */
function missing({ ids }: ErrorContext): Record<string, unknown> | null {
  const last = [...ids].at(-1);
  return last === undefined ? null : { resource: last[0].replace(/_id$/, ""), id: last[1] };
}

/** Returns the first error of an empty request, of one with wrong values, or of one with an unknown field. */
function refusedFields({ body, query }: ErrorContext): FieldError[] {
  const refused = (schema: TSchema, ...values: unknown[]) =>
    values.flatMap((value) => fieldErrors(schema, value)).slice(0, 1);
  if (body !== null) return refused(body, {}, zeros(body), UNKNOWN);
  if (query?.properties.limit !== undefined) return refused(query, { limit: "0" });
  return query === null ? [] : refused(query, {}, UNKNOWN);
}

const UNKNOWN = { verbose: "true" };

function zeros({ properties }: TSchema): Record<string, number> {
  return Object.fromEntries(Object.keys(properties ?? {}).map((name) => [name, 0]));
}
