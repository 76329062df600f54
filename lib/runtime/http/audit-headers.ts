import {
  AUDIT_CREATED_HEADER,
  AUDIT_DETAILS_HEADER,
  AUDIT_MEMBER_HEADER,
  AUDIT_ORGANIZATION_HEADER,
  encodeDetails,
} from "../../contracts/audit/index.ts";

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
