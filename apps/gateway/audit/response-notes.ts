import {
  AUDIT_CREATED_HEADER,
  AUDIT_DETAILS_BYTES_MAX,
  AUDIT_DETAILS_DEPTH_MAX,
  AUDIT_DETAILS_HEADER,
  AUDIT_MEMBER_HEADER,
  AUDIT_ORGANIZATION_HEADER,
  type AuditOutcome,
  decodeDetails,
  decodeId,
} from "@ostiary/lib/contracts/audit";
import type { Scope } from "@ostiary/lib/domain/routes";

/** What a service says of an audited request, as it goes into the outcome `responded`. */
export type ResponseNotes = Required<
  Pick<AuditOutcome, "details" | "created_id" | "organization_id" | "member_id">
>;

/** Told of a header that was not taken, and why; never of its value. */
export type NoteWarning = (header: string, reason: string) => void;

/** Reads the four audit headers of a service's answer (Identity specification, Audit headers set by services). */
export function readResponseNotes(
  headers: Headers,
  scope: Scope,
  status: number,
  warn: NoteWarning,
): ResponseNotes {
  const id = (header: string) => readId(headers, header, warn);
  return {
    details: readDetails(headers, warn),
    created_id: id(AUDIT_CREATED_HEADER),
    ...readPair(headers, scope, status, warn),
  };
}

const DETAILS_RULE = `must be one JSON object in visible ASCII of at most ${AUDIT_DETAILS_BYTES_MAX} bytes and ${AUDIT_DETAILS_DEPTH_MAX} levels`;

function readDetails(headers: Headers, warn: NoteWarning): ResponseNotes["details"] {
  const header = headers.get(AUDIT_DETAILS_HEADER);
  if (header === null) return null;
  const details = decodeDetails(header);
  if (details === null) {
    warn(AUDIT_DETAILS_HEADER, DETAILS_RULE);
  }
  return details;
}

function readId(headers: Headers, header: string, warn: NoteWarning): string | null {
  const value = headers.get(header);
  if (value === null) return null;
  const id = decodeId(value);
  if (id === null) warn(header, "must be one id: one path segment of at most 128 bytes of visible ASCII");
  return id;
}

const NO_PAIR = { organization_id: null, member_id: null } as const;

function readPair(
  headers: Headers,
  scope: Scope,
  status: number,
  warn: NoteWarning,
): Pick<ResponseNotes, "organization_id" | "member_id"> {
  const organization = headers.has(AUDIT_ORGANIZATION_HEADER);
  const member = headers.has(AUDIT_MEMBER_HEADER);
  if (!organization && !member) return NO_PAIR;
  const present = organization ? AUDIT_ORGANIZATION_HEADER : AUDIT_MEMBER_HEADER;
  if (scope !== "user" || status < 200 || status > 299) {
    warn(present, "is read on 2xx answers of user routes only");
    return NO_PAIR;
  }
  if (!organization || !member) {
    warn(present, "must come with its other half: organization and member, both or neither");
    return NO_PAIR;
  }
  const organization_id = readId(headers, AUDIT_ORGANIZATION_HEADER, warn);
  const member_id = readId(headers, AUDIT_MEMBER_HEADER, warn);
  return organization_id === null || member_id === null ? NO_PAIR : { organization_id, member_id };
}
