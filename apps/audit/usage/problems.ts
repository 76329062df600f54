import {
  QUOTA_LOOKUPS_MAX,
  QuotaLookup,
  USAGE_COUNTS_MAX,
  USAGE_QUOTAS_MAX,
  UsageReport,
} from "@ostiary/lib/contracts/usage-contract";
import { type FieldError, fieldErrors } from "@ostiary/lib/domain/errors";
import { periodNamed } from "@ostiary/lib/domain/ratelimit";
import { fieldsOf, timeProblems, unstorable } from "../field-problems.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The maximum time by which a time in a report may be ahead of this service's clock. */
const AHEAD_MS_MAX = DAY_MS;
/**
 * The maximum age of a time in a report. It is high, because gateways keep counts while this service is unavailable.
 */
const AGE_MS_MAX = 400 * DAY_MS;

const NEAR_RULE = "must be at most 24 hours ahead of this service's clock, and at most 400 days behind it";

/** Returns the check whether a report may contain a time (AU-121). */
function isNear(nowMs: number): (timeMs: number) => boolean {
  return (timeMs) => timeMs - nowMs <= AHEAD_MS_MAX && nowMs - timeMs <= AGE_MS_MAX;
}

/** Returns everything that is wrong, at `nowMs`, with a request for counts of quotas (AU-192). */
export function questionProblems(body: unknown, nowMs: number): FieldError[] {
  const { quotas } = fieldsOf(body);
  const asked = Array.isArray(quotas) ? quotas.slice(0, QUOTA_LOOKUPS_MAX) : [];
  return [
    ...fieldErrors(QuotaLookup, body),
    ...asked.flatMap((quota, index) => quotaProblems(`quotas[${index}]`, quota, nowMs)),
  ];
}

/**
 * Returns the problems of a quota that its schema does not find: an impossible period, and texts that cannot be
 * stored.
 */
function quotaProblems(path: string, quota: unknown, nowMs: number): FieldError[] {
  const { period, subject } = fieldsOf(quota);
  return [...periodProblems(`${path}.period`, period, nowMs), ...unstorable({ subject }, `${path}.`)];
}

function periodProblems(path: string, period: unknown, nowMs: number): FieldError[] {
  if (typeof period !== "string") return [];
  const named = periodNamed(period);
  if (named === null) {
    return [{ path, message: `${path} must be a day such as 2026-01-31 or a month such as 2026-01.` }];
  }
  return isNear(nowMs)(named.startsMs) ? [] : [{ path, message: `${path} ${NEAR_RULE}.` }];
}

/** Returns everything that is wrong with a report at `nowMs` (AU-121). */
export function reportProblems(body: unknown, nowMs: number): FieldError[] {
  const report = fieldsOf(body);
  const counts = Array.isArray(report.counts) ? report.counts.slice(0, USAGE_COUNTS_MAX).map(fieldsOf) : [];
  const quotas = Array.isArray(report.quotas) ? report.quotas.slice(0, USAGE_QUOTAS_MAX) : [];
  return [
    ...fieldErrors(UsageReport, body),
    ...timeProblems("reported_until", report.reported_until, isNear(nowMs), NEAR_RULE),
    ...counts.flatMap(({ hour, organization_id, service, method, member_id, key_prefix }, index) => [
      ...timeProblems(`counts[${index}].hour`, hour, isNear(nowMs), NEAR_RULE),
      ...unstorable({ organization_id, service, method, member_id, key_prefix }, `counts[${index}].`),
    ]),
    ...quotas.flatMap((quota, index) => quotaProblems(`quotas[${index}]`, quota, nowMs)),
  ];
}
