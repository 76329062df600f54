import type { ErrorCode } from "@ostiary/lib/errors";
import { type AuditNote, auditHeaders, errorResponses } from "@ostiary/lib/http";

const ANY_OPERATION = ["VALIDATION_ERROR", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"] as const;

/** The errors of an operation without a body, beside those that every operation has. */
export function errors(...codes: ErrorCode[]) {
  return errorResponses(...codes, ...ANY_OPERATION);
}

/** The errors of an operation with a body. */
export function bodyErrors(...codes: ErrorCode[]) {
  return errorResponses("INVALID_REQUEST", ...codes, "PAYLOAD_TOO_LARGE", ...ANY_OPERATION);
}

/** Puts what an operation tells the audit log on its answer. */
export function setAuditNote(
  set: { headers: Record<string, string | number | undefined> },
  note: AuditNote,
): void {
  Object.assign(set.headers, auditHeaders(note));
}

/** 204: done, and nothing to say. */
export function noContent(): Response {
  return new Response(null, { status: 204 });
}
