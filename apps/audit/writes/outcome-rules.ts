import { AUDIT_DETAILS_BYTES_MAX, type AuditOutcome, detailsBytesMin } from "@ostiary/lib/audit";
import type { FieldError } from "@ostiary/lib/errors";
import { unstorable } from "./intent-rules.ts";

const ONLY_WITH_RESPONDED = ["details", "created_id", "organization_id", "member_id"] as const;

/** What is wrong with an outcome beyond its shape (Identity specification, Audit internal API). */
export function outcomeProblems(outcome: AuditOutcome): FieldError[] {
  return [
    ...statusProblems(outcome),
    ...fieldsOfResponded(outcome),
    ...pairProblems(outcome),
    ...detailsProblems(outcome),
    ...unstorable({
      created_id: outcome.created_id,
      organization_id: outcome.organization_id,
      member_id: outcome.member_id,
    }),
  ];
}

function statusProblems({ outcome, status }: AuditOutcome): FieldError[] {
  if (outcome !== "responded" || status !== null) return [];
  return [{ path: "status", message: "status must be a number when the outcome is responded." }];
}

function fieldsOfResponded(outcome: AuditOutcome): FieldError[] {
  if (outcome.outcome === "responded") return [];
  return ONLY_WITH_RESPONDED.filter((field) => (outcome[field] ?? null) !== null).map((path) => ({
    path,
    message: `${path} may be set only when the outcome is responded.`,
  }));
}

function pairProblems({ organization_id, member_id }: AuditOutcome): FieldError[] {
  const organization = (organization_id ?? null) !== null;
  const member = (member_id ?? null) !== null;
  if (organization === member) return [];
  const path = organization ? "member_id" : "organization_id";
  return [{ path, message: "organization_id and member_id must be set together or not at all." }];
}

function detailsProblems({ details }: AuditOutcome): FieldError[] {
  if (!details || detailsBytesMin(details) <= AUDIT_DETAILS_BYTES_MAX) return [];
  return [
    {
      path: "details",
      message: `details must take at most ${AUDIT_DETAILS_BYTES_MAX} bytes as JSON in visible ASCII.`,
    },
  ];
}
