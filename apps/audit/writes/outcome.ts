import {
  AUDIT_DETAILS_BYTES_MAX,
  detailsBytesMin,
  identifiedOutcomeSchema,
  outcomeSchema,
} from "@ostiary/lib/contracts/audit";
import { type FieldError, fieldErrors, fits } from "@ostiary/lib/domain/errors";
import { type Fields, fieldsOf, unstorable } from "../field-problems.ts";
import { type Checked, checkedItem } from "./intent.ts";
import type { OutcomeWrite } from "./write-sql.ts";

const WITHOUT_RESPONSE: readonly unknown[] = ["rejected", "no_response"];
const ONLY_WITH_RESPONDED = ["details", "created_id", "organization_id", "member_id"] as const;

/** Returns everything that is wrong with an outcome (AU-19 to AU-22). */
export function outcomeProblems(body: unknown): FieldError[] {
  const outcome = fieldsOf(body);
  const { created_id, organization_id, member_id } = outcome;
  return [
    ...fieldErrors(outcomeSchema, body),
    ...statusProblems(outcome),
    ...fieldsOfResponded(outcome),
    ...pairProblems(outcome),
    ...detailsProblems(outcome),
    ...unstorable({ created_id, organization_id, member_id }),
  ];
}

export function checkedOutcome(given: unknown): Checked<OutcomeWrite> {
  return checkedItem(given, outcomeProblems(given), (item) =>
    fits(identifiedOutcomeSchema, item) ? { request_id: item.request_id, outcome: item } : null,
  );
}

function statusProblems({ outcome, status }: Fields): FieldError[] {
  if (outcome !== "responded" || status !== null) return [];
  return [{ path: "status", message: "status must be a number if outcome is responded." }];
}

function fieldsOfResponded(outcome: Fields): FieldError[] {
  if (!WITHOUT_RESPONSE.includes(outcome.outcome)) return [];
  return ONLY_WITH_RESPONDED.filter((field) => (outcome[field] ?? null) !== null).map((path) => ({
    path,
    message: `${path} may be set only if outcome is responded.`,
  }));
}

function pairProblems({ organization_id, member_id }: Fields): FieldError[] {
  const organization = (organization_id ?? null) !== null;
  const member = (member_id ?? null) !== null;
  if (organization === member) return [];
  const path = organization ? "member_id" : "organization_id";
  return [{ path, message: "organization_id and member_id must be set together or not at all." }];
}

function detailsProblems({ details }: Fields): FieldError[] {
  if (detailsBytesMin(fieldsOf(details)) <= AUDIT_DETAILS_BYTES_MAX) return [];
  return [
    {
      path: "details",
      message: `details must be at most ${AUDIT_DETAILS_BYTES_MAX} bytes as JSON in which all but visible ASCII is escaped.`,
    },
  ];
}

/**
 * The problem of an outcome that names an organization although its event is not in a person's log. This problem is
 * found only when the outcome is applied, because only the stored event names its owner.
 */
export const notAUserRoute: FieldError = {
  path: "organization_id",
  message: "organization_id and member_id may be set only for an event of a person's log.",
};
