import { type AuditNote, auditHeaders } from "@ostiary/lib/contracts/audit";
import type { ErrorCode } from "@ostiary/lib/domain/errors";
import { type DocumentedError, errorResponses } from "@ostiary/lib/runtime/http";
import { CloneType, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { idField } from "./fields.ts";

const ANY_OPERATION = ["VALIDATION_ERROR", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"] as const;

/** The errors of an operation without a body, beside those that every operation has. */
export function errors(...codes: DocumentedError[]) {
  return errorResponses<ErrorCode>(...codes, ...ANY_OPERATION);
}

/** The errors of an operation with a body. */
export function bodyErrors(...codes: DocumentedError[]) {
  return errorResponses<ErrorCode>("INVALID_REQUEST", ...codes, "PAYLOAD_TOO_LARGE", ...ANY_OPERATION);
}

/** Headers by which an answer tells the audit log about itself; the gateway reads and strips them. */
const noteHeaders = {
  details: {
    "X-Platform-Audit-Details": Type.String({
      description: "What changed, as JSON; absent when nothing did.",
      examples: ['{"name":{"from":"Acme","to":"Analytical Engines"}}'],
    }),
  },
  created: { "X-Platform-Audit-Created": idField("The id of what was created.") },
  organization: {
    "X-Platform-Audit-Organization": idField("The organization whose log records this too."),
    "X-Platform-Audit-Member": idField("The member who acted there."),
  },
} satisfies Record<keyof AuditNote, TProperties>;

/** A success with a body of `schema`, and which notes for the audit log come with it. */
export function answer<Schema extends TSchema>(
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

/** 204: done, and nothing to say. A handler answers with `status(204, undefined)`. */
export function emptyAnswer(description: string) {
  return Type.Void({ description });
}

/** Puts what an operation tells the audit log on its answer. */
export function setAuditNote(
  set: { headers: Record<string, string | number | undefined> },
  note: AuditNote,
): void {
  Object.assign(set.headers, auditHeaders(note));
}
