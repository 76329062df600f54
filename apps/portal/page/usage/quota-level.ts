import type { OrganizationQuota } from "@ostiary/lib/contracts/usage";

/** The used part of a quota: `low` below 80 percent, `near` from 80 percent, `over` from 100 percent. */
type QuotaLevel = "low" | "near" | "over";

/** The used share of a quota from which the page warns. */
export const NEAR_SHARE = 0.8;

/** Returns the level of a quota's use. Returns "low" if the size of the quota is unknown. */
export function levelOf({ requests, charged }: OrganizationQuota): QuotaLevel {
  if (requests === null || charged < requests * NEAR_SHARE) return "low";
  return charged < requests ? "near" : "over";
}
