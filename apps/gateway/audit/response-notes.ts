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
import { fieldValue } from "../upstream/upstream-client.ts";

type ResponseNotes = Required<Pick<AuditOutcome, "details" | "created_id" | "organization_id" | "member_id">>;

/** A callback that is called with the name of an ignored header and the reason, never with the value. */
type NoteWarning = (header: string, reason: string) => void;

/** Reads the four audit headers of a service's response (GW-149, GW-150). */
export function readResponseNotes(
  fields: readonly string[],
  scope: Scope,
  status: number,
  warn: NoteWarning,
): ResponseNotes {
  const id = (header: string) => readId(fields, header, warn);
  return {
    details: readDetails(fields, warn),
    created_id: id(AUDIT_CREATED_HEADER),
    ...readPair(fields, scope, status, warn),
  };
}

const DETAILS_RULE = `must be one JSON object in visible ASCII of at most ${AUDIT_DETAILS_BYTES_MAX} bytes and ${AUDIT_DETAILS_DEPTH_MAX} levels; the names in an object must differ, and each number must keep all its digits as a double`;

function readDetails(fields: readonly string[], warn: NoteWarning): ResponseNotes["details"] {
  const header = fieldValue(fields, AUDIT_DETAILS_HEADER);
  if (header === null) return null;
  const details = decodeDetails(header);
  if (details === null) {
    warn(AUDIT_DETAILS_HEADER, DETAILS_RULE);
  }
  return details;
}

function readId(fields: readonly string[], header: string, warn: NoteWarning): string | null {
  const value = fieldValue(fields, header);
  if (value === null) return null;
  const id = decodeId(value);
  if (id === null) warn(header, "must be one id: one path segment of at most 128 bytes of visible ASCII");
  return id;
}

const NO_PAIR = { organization_id: null, member_id: null } as const;

function readPair(
  fields: readonly string[],
  scope: Scope,
  status: number,
  warn: NoteWarning,
): Pick<ResponseNotes, "organization_id" | "member_id"> {
  const organization = fieldValue(fields, AUDIT_ORGANIZATION_HEADER) !== null;
  const member = fieldValue(fields, AUDIT_MEMBER_HEADER) !== null;
  if (!organization && !member) return NO_PAIR;
  const present = organization ? AUDIT_ORGANIZATION_HEADER : AUDIT_MEMBER_HEADER;
  if (scope !== "user" || status < 200 || status > 299) {
    warn(present, "is only read in 2xx responses of user routes");
    return NO_PAIR;
  }
  if (!organization || !member) {
    warn(
      present,
      `must be sent together with ${organization ? AUDIT_MEMBER_HEADER : AUDIT_ORGANIZATION_HEADER}`,
    );
    return NO_PAIR;
  }
  const organization_id = readId(fields, AUDIT_ORGANIZATION_HEADER, warn);
  const member_id = readId(fields, AUDIT_MEMBER_HEADER, warn);
  return organization_id === null || member_id === null ? NO_PAIR : { organization_id, member_id };
}
