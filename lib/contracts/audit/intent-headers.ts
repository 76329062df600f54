import { isRecord, JSON_DEPTH_MAX, parseIJson, tryJson } from "../../domain/json/index.ts";

/** The response headers for audit notes. The gateway strips them from every request and response (GW-149, GW-150). */
export const AUDIT_DETAILS_HEADER = "x-platform-audit-details";
export const AUDIT_CREATED_HEADER = "x-platform-audit-created";
export const AUDIT_ORGANIZATION_HEADER = "x-platform-audit-organization";
export const AUDIT_MEMBER_HEADER = "x-platform-audit-member";

export const AUDIT_HEADERS = [
  AUDIT_DETAILS_HEADER,
  AUDIT_CREATED_HEADER,
  AUDIT_ORGANIZATION_HEADER,
  AUDIT_MEMBER_HEADER,
] as const;

export const AUDIT_DETAILS_BYTES_MAX = 4096;
/** Three below the limit for JSON: batches of outcomes and pages of events wrap details in three levels. */
export const AUDIT_DETAILS_DEPTH_MAX = JSON_DEPTH_MAX - 3;
export const AUDIT_ID_BYTES_MAX = 128;

/** Encodes `details` in visible ASCII, with \u escapes. Returns null when the text is too long. */
function encodeDetails(details: Record<string, unknown>): string | null {
  const text = asciiOnly(JSON.stringify(details));
  return text.length <= AUDIT_DETAILS_BYTES_MAX ? text : null;
}

/** The facts that a service reports to the audit log about a write. */
export interface AuditNote {
  /** The change, without secrets. Empty or too long details are not sent. */
  details?: Record<string, unknown>;
  created?: string;
  /** On a user route, an organization whose log also records the event, and the member who acted. */
  organization?: { organization_id: string; member_id: string };
}

export function auditHeaders(note: AuditNote): Record<string, string> {
  const headers: Record<string, string> = {};
  const details = note.details && Object.keys(note.details).length > 0 ? encodeDetails(note.details) : null;
  if (details !== null) headers[AUDIT_DETAILS_HEADER] = details;
  if (note.created !== undefined) headers[AUDIT_CREATED_HEADER] = note.created;
  if (note.organization) {
    headers[AUDIT_ORGANIZATION_HEADER] = note.organization.organization_id;
    headers[AUDIT_MEMBER_HEADER] = note.organization.member_id;
  }
  return headers;
}

/** Returns the least length of a header with `details`, in which a number may have a short spelling such as `1e9`. */
export function detailsBytesMin(details: Record<string, unknown>): number {
  return asciiOnly(JSON.stringify(details, (_, value: unknown) => (typeof value === "number" ? 0 : value)))
    .length;
}

function asciiOnly(json: string): string {
  return json.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Reads a details header: one I-JSON object in visible ASCII. Returns null for any other value. */
export function decodeDetails(header: string): Record<string, unknown> | null {
  if (header.length > AUDIT_DETAILS_BYTES_MAX || !/^[\x20-\x7e]*$/.test(header)) return null;
  const value = tryJson(header, (text) => parseIJson(text, AUDIT_DETAILS_DEPTH_MAX));
  return isRecord(value) ? value : null;
}

/** Reads an id: one visible path segment of at most 128 bytes. Returns null for any other value. */
export function decodeId(header: string): string | null {
  const valid = header.length > 0 && header.length <= AUDIT_ID_BYTES_MAX && /^[\x21-\x7e]+$/.test(header);
  return valid && !/[/?#\\]/.test(header) && header !== "." && header !== ".." ? header : null;
}
