import { isRecord, JSON_DEPTH_MAX, parseJson } from "../../domain/json/index.ts";

/**
 * The four headers that a service answers with and the gateway reads on audited routes, and strips from
 * every request and response (Identity specification, Audit headers set by services).
 */
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
/** An outcome among others, and an event of a page, hold their details three levels down. */
export const AUDIT_DETAILS_DEPTH_MAX = JSON_DEPTH_MAX - 3;
export const AUDIT_ID_BYTES_MAX = 128;

/** Spells `details` for the header: visible ASCII, everything else as \u escapes; null when it would be too long. */
export function encodeDetails(details: Record<string, unknown>): string | null {
  const text = asciiOnly(JSON.stringify(details));
  return text.length <= AUDIT_DETAILS_BYTES_MAX ? text : null;
}

/** What a write tells the audit log about itself. */
export interface AuditNote {
  /** What changed; never a secret. Empty or too long: not sent. */
  details?: Record<string, unknown>;
  /** The id of what was created. */
  created?: string;
  /** Puts a user-route event into this organization's log too, with this member as actor. */
  organization?: { organization_id: string; member_id: string };
}

/** The note as response headers. */
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

/**
 * The least bytes that a header needs to say `details`. Every number counts as one, since `1e9` is shorter than
 * the digits that it is read as: what is longer than the header's limit can't have come in a header.
 */
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

/** Reads a details header: one JSON object in visible ASCII, neither too long nor nested too deeply; else null. */
export function decodeDetails(header: string): Record<string, unknown> | null {
  if (header.length > AUDIT_DETAILS_BYTES_MAX || !/^[\x20-\x7e]*$/.test(header)) return null;
  try {
    const value = parseJson(header, AUDIT_DETAILS_DEPTH_MAX);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** An id from a created, organization or member header: one visible path segment of at most 128 bytes, else null. */
export function decodeId(header: string): string | null {
  const valid = header.length > 0 && header.length <= AUDIT_ID_BYTES_MAX && /^[\x21-\x7e]+$/.test(header);
  return valid && !/[/?#\\]/.test(header) && header !== "." && header !== ".." ? header : null;
}
