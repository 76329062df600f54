import { monthEnd, monthStart, type Statement } from "@ostiary/lib/domain/proof";
import { SUM_NAMES, UsageSums } from "@ostiary/lib/domain/usage";
import { Value } from "@sinclair/typebox/value";
import { compare } from "../../compare.ts";
import { refusedOf } from "../totals.ts";
import type { DueMonth, MonthPart } from "./due-months-sql.ts";

/**
 * Returns the statement of a month (AU-131). Every statement after the first one of a month corrects the previous
 * one.
 */
export function statementOf({ month, stated, parts }: DueMonth, nowMs: number): Statement {
  const services = parts.filter(({ policy }) => policy === "").toSorted(byName);
  const policies = parts.filter(({ policy }) => policy !== "").toSorted(byName);
  return {
    id: `${month}.${stated + 1}`,
    month,
    from: new Date(monthStart(month)).toISOString(),
    to: new Date(monthEnd(month)).toISOString(),
    stated_at: new Date(nowMs).toISOString(),
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

function totalOf(parts: readonly UsageSums[]): UsageSums {
  const total = Value.Create(UsageSums);
  for (const name of SUM_NAMES) total[name] = parts.reduce((sum, part) => sum + part[name], 0);
  return total;
}
