import { USAGE_COUNTS_MAX, USAGE_QUOTAS_MAX, UsageReport } from "@ostiary/lib/contracts/usage";
import { type FieldError, fieldErrors } from "@ostiary/lib/domain/errors";
import { parseTime, TIME_RULE } from "@ostiary/lib/domain/schemas";
import { fieldsOf, unstorable } from "../../field-problems.ts";
import { quotaProblems } from "../quotas/quota.ts";
import { isNear, NEAR_RULE } from "../reportable-time.ts";

/** Returns everything that is wrong with a report at `nowMs` (AU-121). */
export function reportProblems(body: unknown, nowMs: number): FieldError[] {
  const report = fieldsOf(body);
  const counts = Array.isArray(report.counts) ? report.counts.slice(0, USAGE_COUNTS_MAX).map(fieldsOf) : [];
  const quotas = Array.isArray(report.quotas) ? report.quotas.slice(0, USAGE_QUOTAS_MAX) : [];
  return [
    ...fieldErrors(UsageReport, body),
    ...timeProblems("reported_until", report.reported_until, nowMs),
    ...counts.flatMap(({ hour, organization_id, service, method, member_id, key_prefix }, index) => {
      const at = (name: string) => `counts[${index}].${name}`;
      return [
        ...timeProblems(at("hour"), hour, nowMs),
        ...unstorable({
          [at("organization_id")]: organization_id,
          [at("service")]: service,
          [at("method")]: method,
          [at("member_id")]: member_id,
          [at("key_prefix")]: key_prefix,
        }),
      ];
    }),
    ...quotas.flatMap((quota, index) => quotaProblems(`quotas[${index}]`, quota, nowMs)),
  ];
}

function timeProblems(path: string, value: unknown, nowMs: number): FieldError[] {
  if (typeof value !== "string") return [];
  const time = parseTime(value);
  if (time === null) return [{ path, message: `${path} ${TIME_RULE}.` }];
  return isNear(time.epochMilliseconds, nowMs) ? [] : [{ path, message: `${path} ${NEAR_RULE}.` }];
}
