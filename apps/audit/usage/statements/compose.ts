import { monthEnd, monthStart, type Statement } from "@ostiary/lib/domain/proof";
import { type UsageSums, usageSums } from "@ostiary/lib/domain/usage";
import { compare } from "../../order.ts";
import { refusedOf } from "../totals.ts";
import type { DueMonth, MonthPart } from "./due-queries.ts";

/** Returns the statement of a month (AU-131). Every statement after the first one of a month corrects the one before. */
export function statementOf({ month, stated, parts }: DueMonth, now_ms: number): Statement {
  const services = parts.filter(({ policy }) => policy === "").toSorted(byName);
  const policies = parts.filter(({ policy }) => policy !== "").toSorted(byName);
  return {
    id: `${month}.${stated + 1}`,
    month,
    from: new Date(monthStart(month)).toISOString(),
    to: new Date(monthEnd(month)).toISOString(),
    stated_at: new Date(now_ms).toISOString(),
    corrects: stated === 0 ? null : `${month}.${stated}`,
    ...totalOf(services.map(sumsOf)),
    services: services.map((part) => ({ service: part.service, ...sumsOf(part) })),
    policies: policies.map((part) => ({
      policy: part.policy,
      service: part.service === "" ? null : part.service,
      ...sumsOf(part),
    })),
  };
}

function byName(a: MonthPart, b: MonthPart): number {
  return compare(a.policy, b.policy) || compare(a.service, b.service);
}

function sumsOf(part: MonthPart): UsageSums {
  const { requests, refused_limit, refused_labels, refused_other, failed, bytes_in, bytes_out, duration_ms } =
    part;
  const refused = { refused: refusedOf(part), refused_limit, refused_labels, refused_other };
  return { requests, ...refused, failed, bytes_in, bytes_out, duration_ms };
}

function totalOf(all: readonly UsageSums[]): UsageSums {
  const isSum = (name: string): name is keyof UsageSums => name in usageSums;
  const total = sumsOf({ ...NOTHING });
  for (const name of Object.keys(usageSums).filter(isSum)) {
    total[name] = all.reduce((sum, sums) => sum + sums[name], 0);
  }
  return total;
}

const NOTHING: MonthPart = {
  service: "",
  policy: "",
  changes: 0,
  requests: 0,
  refused_limit: 0,
  refused_labels: 0,
  refused_other: 0,
  failed: 0,
  bytes_in: 0,
  bytes_out: 0,
  duration_ms: 0,
};
