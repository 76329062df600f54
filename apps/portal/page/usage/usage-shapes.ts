import { OrganizationQuota, usageSums } from "@ostiary/lib/contracts/usage-contract";
import type { Result } from "@ostiary/lib/page/failure";
import { type Static, Type } from "@sinclair/typebox";
import { type Gateway, pathTo } from "../gateway.ts";

/** The dimensions by which the page breaks down the usage of a month, in addition to days. */
export const DIVISIONS = ["service", "route", "key"] as const;
export type Division = (typeof DIVISIONS)[number];

export const UsagePart = Type.Object({
  id: Type.String(),
  from: Type.String(),
  ...usageSums,
  service: Type.Optional(Type.String()),
  method: Type.Optional(Type.String()),
  route: Type.Optional(Type.String()),
  key_prefix: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  member_id: Type.Optional(Type.String()),
});
export type UsagePart = Static<typeof UsagePart>;

export const MonthUsage = Type.Object({
  usage: Type.Array(UsagePart),
  gaps: Type.Array(Type.Object({ after: Type.String() })),
  quotas: Type.Array(OrganizationQuota),
});
export type MonthUsage = Static<typeof MonthUsage>;

const USAGE_PATH = pathTo("org", "usage");
/** The number of usage parts in one page. A month has fewer days, so one page holds all days. */
const PAGE_PARTS = 100;
const MONTHS = 12;

/** Returns the time range of a month such as `2026-11`, in UTC. */
function rangeOf(month: string): { from: string; to: string } {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const startOf = (index: number) => new Date(Date.UTC(year, index)).toISOString();
  return { from: startOf(number - 1), to: startOf(number) };
}

/** Returns the months up to the current one, newest first. */
export function monthsAt(nowMs: number): string[] {
  const now = new Date(nowMs);
  return Array.from({ length: MONTHS }, (_, before) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - before))
      .toISOString()
      .slice(0, "2026-11".length),
  );
}

export function daysOf(month: string, nowMs: number): string[] {
  const { from, to } = rangeOf(month);
  const days: string[] = [];
  for (let dayMs = Date.parse(from); dayMs < Math.min(Date.parse(to), nowMs); dayMs += DAY_MS) {
    days.push(new Date(dayMs).toISOString());
  }
  return days;
}

const DAY_MS = 86_400_000;

/** Reads the usage of each day of a month, without the calls of this page unless `all`. */
export function readMonth(gateway: Gateway, month: string, all = false): Promise<Result<MonthUsage>> {
  return gateway.send(MonthUsage, USAGE_PATH, { query: queryOf(month, "day", all) });
}

/** Reads one page of a month's usage by service, route or key, without the calls of this page unless `all`. */
export function listParts(
  gateway: Gateway,
  { month, by, all }: { month: string; by: Division; all: boolean },
  starting_after: string | undefined,
) {
  return gateway.list("usage", UsagePart, USAGE_PATH, { ...queryOf(month, by, all), starting_after });
}

function queryOf(month: string, by: Division | "day", all: boolean) {
  return { by, ...rangeOf(month), limit: PAGE_PARTS, ...(all && { include_platform: "true" }) };
}

const SUMS = ["requests", "refused", "failed", "bytes_in", "bytes_out"] as const;

export function totalOf(parts: readonly UsagePart[]): Record<(typeof SUMS)[number], number> {
  const total = { requests: 0, refused: 0, failed: 0, bytes_in: 0, bytes_out: 0 };
  for (const part of parts) for (const name of SUMS) total[name] += part[name];
  return total;
}
