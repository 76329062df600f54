import { monthEnd, monthOf, monthStart } from "@ostiary/lib/domain/proof";
import type { AuditService, AuditServiceOptions } from "./audit-service.ts";
import { json } from "./audit-service.ts";
import { startProvenAudit } from "./proof-bed.ts";
import { HOUR_MS, StandingClock } from "./usage-bed.ts";

/** A month that is over by the clocks of both the service and the database. */
export const MONTH = monthOf(Date.now(), -2);
/** The month in which the clock of the service stands. */
export const NEXT_MONTH = monthOf(Date.now(), -1);
export const HOUR = new Date(monthStart(MONTH) + 100 * HOUR_MS).toISOString();
export const NEXT_HOUR = new Date(monthStart(NEXT_MONTH)).toISOString();
/** A time at which the service writes statements for {@link MONTH}, but not yet for {@link NEXT_MONTH}. */
export const NOW_MS = monthEnd(MONTH) + 30 * HOUR_MS;
export const NOW = new Date(NOW_MS).toISOString();

/** Starts a service that seals often, with a clock that stands still at {@link NOW}. */
export function startStatingAudit(options: AuditServiceOptions = {}): Promise<AuditService> {
  return startProvenAudit({ clock: new StandingClock(NOW_MS), ...options });
}

/** A usage statement in a response. */
export interface ShownStatement {
  id: string;
  month: string;
  position: number;
  requests: number;
  corrects: string | null;
  corrected_by: string | null;
}

export async function statementsOf(audit: AuditService, organization_id: string): Promise<ShownStatement[]> {
  const found: ShownStatement[] = [];
  for (let after = ""; ; ) {
    const path = `/organizations/${organization_id}/usage/statements?limit=100${after}`;
    const { usage_statements, has_more } = await json(await audit.get(path));
    found.push(...usage_statements);
    if (!has_more) return found;
    after = `&starting_after=${found.at(-1)?.id}`;
  }
}
