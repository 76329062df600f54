import {
  type AuditIntent,
  INTENT_SKEW_MS_MAX,
  identifiedIntentSchema,
  intentSchema,
} from "@ostiary/lib/contracts/audit";
import { type FieldError, fieldErrors, fits } from "@ostiary/lib/domain/errors";
import {
  type Fields,
  fieldsOf,
  firstOfEach,
  isStorable,
  STORABLE_RULE,
  timeProblems,
  unstorable,
} from "../field-problems.ts";

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

export function requestIdProblems(request_id: string): FieldError[] {
  if (REQUEST_ID.test(request_id)) return [];
  return [{ path: "request_id", message: "request_id must be 1 to 128 visible ASCII characters." }];
}

/** Returns everything that is wrong with an intent at `nowMs` (AU-10 to AU-13). */
export function intentProblems(body: unknown, nowMs: number): FieldError[] {
  const intent = fieldsOf(body);
  return [
    ...fieldErrors(intentSchema, body),
    ...timeProblems(
      "occurred_at",
      intent.occurred_at,
      (timeMs) => Math.abs(timeMs - nowMs) <= INTENT_SKEW_MS_MAX,
      "must be within 24 hours of this service's clock",
    ),
    ...logProblems(intent),
    ...paramProblems(fieldsOf(intent.params)),
    ...textProblems(intent),
  ];
}

/** An item of a batch: a valid write, or all problems of the item. */
export interface Checked<Write> {
  /** The request id of the item, or null if it is not a valid text. */
  request_id: string | null;
  write: Write | null;
  fields: FieldError[];
}

export interface PendingIntent {
  request_id: string;
  intent: AuditIntent;
}

export function checkedIntent(given: unknown, nowMs: number): Checked<PendingIntent> {
  return checkedItem(given, intentProblems(given, nowMs), (item) =>
    fits(identifiedIntentSchema, item) ? { request_id: item.request_id, intent: item } : null,
  );
}

/**
 * Checks an item of a batch.
 *
 * @param writeOf returns the write of an item without problems
 */
export function checkedItem<Write>(
  given: unknown,
  problems: readonly FieldError[],
  writeOf: (item: unknown) => Write | null,
): Checked<Write> {
  const { request_id: named } = fieldsOf(given);
  const request_id = typeof named === "string" ? named : null;
  const fields = firstOfEach([...requestIdProblems(request_id ?? ""), ...problems]);
  return { request_id, write: fields.length > 0 ? null : writeOf(given), fields };
}

function logProblems({ organization_id, user_id }: Fields): FieldError[] {
  if (organization_id !== null || user_id !== null) return [];
  return [
    {
      path: "organization_id",
      message: "organization_id or user_id must be set: it names the owner of the log.",
    },
  ];
}

function paramProblems(params: Fields): FieldError[] {
  return Object.entries(params).flatMap(([name, value]) => {
    if (!isStorable(name) || name === "") {
      return [{ path: "params", message: `params names must not be empty and ${STORABLE_RULE}.` }];
    }
    return unstorable({ [name]: value }, "params.");
  });
}

/**
 * Checks the texts that the database may be unable to store. The route and the kind of credential are always
 * storable.
 */
function textProblems(intent: Fields): FieldError[] {
  const { organization_id, user_id, service, method, ip, user_agent } = intent;
  const { member_id, key_prefix } = fieldsOf(intent.actor);
  return [
    ...unstorable({ organization_id, user_id, service, method, ip, user_agent }),
    ...unstorable({ member_id, key_prefix }, "actor."),
  ];
}
