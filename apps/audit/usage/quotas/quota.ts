import { QUOTAS_ASKED_MAX, QuotaQuestion } from "@ostiary/lib/contracts/usage";
import { type FieldError, fieldErrors } from "@ostiary/lib/domain/errors";
import { periodNamed } from "@ostiary/lib/domain/ratelimit";
import { fieldsOf, unstorable } from "../../field-problems.ts";
import { isNear, NEAR_RULE } from "../reportable-time.ts";

/** Returns everything that is wrong, at `nowMs`, with a request for counts of quotas (AU-192). */
export function questionProblems(body: unknown, nowMs: number): FieldError[] {
  const { quotas } = fieldsOf(body);
  const asked = Array.isArray(quotas) ? quotas.slice(0, QUOTAS_ASKED_MAX) : [];
  return [
    ...fieldErrors(QuotaQuestion, body),
    ...asked.flatMap((quota, index) => quotaProblems(`quotas[${index}]`, quota, nowMs)),
  ];
}

/**
 * Returns the problems of a quota that its schema does not find: an impossible period, and texts that cannot be
 * stored.
 */
export function quotaProblems(path: string, quota: unknown, nowMs: number): FieldError[] {
  const { period, subject } = fieldsOf(quota);
  return [
    ...periodProblems(`${path}.period`, period, nowMs),
    ...unstorable({ [`${path}.subject`]: subject }),
  ];
}

function periodProblems(path: string, period: unknown, nowMs: number): FieldError[] {
  if (typeof period !== "string") return [];
  const named = periodNamed(period);
  if (named === null) {
    return [{ path, message: `${path} must be a day such as 2026-01-31 or a month such as 2026-01.` }];
  }
  return isNear(named.startsMs, nowMs) ? [] : [{ path, message: `${path} ${NEAR_RULE}.` }];
}
