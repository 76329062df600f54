import { USAGE_COUNTS_MAX, UsageReport } from "@ostiary/lib/contracts/usage";
import { type FieldError, fieldErrors } from "@ostiary/lib/domain/errors";
import { parseTime } from "@ostiary/lib/domain/schemas";
import { fieldsOf, unstorable } from "../problems.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** How far a report may be ahead of this service's clock. */
const AHEAD_MS_MAX = DAY_MS;
/** How old a report may be: gateways keep their counts while this service is away, and streams last for days. */
const AGE_MS_MAX = 400 * DAY_MS;

/** Returns everything that is wrong with a report at `now_ms` (AU-121). */
export function reportProblems(body: unknown, now_ms: number): FieldError[] {
  const report = fieldsOf(body);
  const counts = Array.isArray(report.counts) ? report.counts.slice(0, USAGE_COUNTS_MAX).map(fieldsOf) : [];
  return [
    ...fieldErrors(UsageReport, body),
    ...timeProblems("reported_until", report.reported_until, now_ms),
    ...counts.flatMap(({ hour, organization_id, service, method, member_id, key_prefix }, index) => {
      const at = (name: string) => `counts[${index}].${name}`;
      return [
        ...timeProblems(at("hour"), hour, now_ms),
        ...unstorable({
          [at("organization_id")]: organization_id,
          [at("service")]: service,
          [at("method")]: method,
          [at("member_id")]: member_id,
          [at("key_prefix")]: key_prefix,
        }),
      ];
    }),
  ];
}

function timeProblems(path: string, value: unknown, now_ms: number): FieldError[] {
  if (typeof value !== "string") return [];
  const time = parseTime(value);
  if (time === null) return [{ path, message: `${path} must be an RFC 3339 time in UTC.` }];
  const age_ms = now_ms - time.epochMilliseconds;
  if (age_ms >= -AHEAD_MS_MAX && age_ms <= AGE_MS_MAX) return [];
  return [
    {
      path,
      message: `${path} must be at most 24 hours ahead of this service's clock, and at most 400 days behind it.`,
    },
  ];
}
