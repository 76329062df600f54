import { CloneType, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { type AuditNote, auditHeaders } from "../../contracts/audit/index.ts";
import type { ErrorCode } from "../../domain/errors/index.ts";
import { idField, textField } from "../../domain/schemas/index.ts";
import { type DocumentedError, errorResponses } from "../../openapi/index.ts";

const ANY_OPERATION = ["VALIDATION_ERROR", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"] as const;
type AnyOperation = (typeof ANY_OPERATION)[number];

/** Returns the errors of an operation without a body, with those that every operation has. */
export function errors<Code extends ErrorCode = never>(...codes: DocumentedError<Code>[]) {
  return errorResponses<Code | AnyOperation>(...codes, ...ANY_OPERATION);
}

/** Returns the errors of an operation with a body, with those that every operation has. */
export function bodyErrors<Code extends ErrorCode = never>(...codes: DocumentedError<Code>[]) {
  return errors<Code | "INVALID_REQUEST" | "PAYLOAD_TOO_LARGE">(
    "INVALID_REQUEST",
    ...codes,
    "PAYLOAD_TOO_LARGE",
  );
}

/** The gateway reads and strips these headers. */
const noteHeaders = {
  details: {
    "X-Platform-Audit-Details": textField(
      "The changes of the request as a JSON object; absent if nothing changed.",
      '{"name":{"from":"Acme","to":"Analytical Engines"}}',
    ),
  },
  created: { "X-Platform-Audit-Created": idField("The id of the created resource.") },
  organization: {
    "X-Platform-Audit-Organization": idField(
      "The id of the organization whose log also records the request.",
    ),
    "X-Platform-Audit-Member": idField("The id of the member who acted in that organization."),
  },
} satisfies Record<keyof AuditNote, TProperties>;

/** Describes a success response, and the headers of its audit notes. */
export function response<Schema extends TSchema>(
  schema: Schema,
  description: string,
  ...notes: (keyof AuditNote)[]
): Schema {
  return CloneType(schema, {
    ...(schema.type === "object" && { additionalProperties: false }),
    response_description: description,
    response_headers: Object.assign({}, ...notes.map((note) => noteHeaders[note])),
  });
}

/** A handler sends the 204 with `status(204, undefined)`. */
export function emptyResponse(description: string) {
  return Type.Void({ description });
}

export function setAuditNote(
  set: { headers: Record<string, string | number | undefined> },
  note: AuditNote,
): void {
  Object.assign(set.headers, auditHeaders(note));
}
