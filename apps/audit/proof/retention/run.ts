import { systemClock } from "@ostiary/lib/async";
import { monthOf } from "@ostiary/lib/domain/proof";
import { type Environment, integer, loadConfig, wholeNumber } from "@ostiary/lib/runtime/config";
import { runJob } from "@ostiary/lib/runtime/service";
import { Type } from "@sinclair/typebox";
import { auditProgram } from "../../config.ts";
import { dropUsage } from "../../usage/retention-sql.ts";
import { checkJobConfig, jobVariables, runOwnerJob } from "../owner-job.ts";
import type { PassDeps } from "../seal/pass-deps.ts";
import { type DroppedMonth, dropMonths } from "./drop-months.ts";

const MONTHS_MAX = 1_200;
/** Usage reports may be 400 days late (AU-121), so a shorter retention would lose late counts. */
const USAGE_MONTHS_MIN = 14;

/** The environment variables of `ostiary audit retention`. */
export const retentionVariables = Type.Object({
  ...jobVariables.properties,
  AUDIT_RETENTION_MONTHS: wholeNumber(
    1,
    MONTHS_MAX,
    "Number of whole months in UTC to keep before the current one.",
  ),
  AUDIT_USAGE_RETENTION_MONTHS: integer(
    { default: 24, min: USAGE_MONTHS_MIN, max: MONTHS_MAX },
    "Number of whole months of usage in UTC to keep before the current one.",
  ),
});

/**
 * Runs `ostiary audit retention` as a process that drops events and usage from before the months that its
 * environment variables keep (OP-72, AU-139).
 */
export function runRetention(env: Environment): Promise<void> {
  return runJob(
    async (say) => {
      const config = loadConfig(retentionVariables, env, checkJobConfig);
      const nowMs = systemClock.now();
      await runOwnerJob(config, async (deps) => {
        await dropEvents(deps, monthOf(nowMs, -config.AUDIT_RETENTION_MONTHS), say);
        await dropOldUsage(deps, monthOf(nowMs, -config.AUDIT_USAGE_RETENTION_MONTHS), say);
      });
    },
    { program: { ...auditProgram, parts: [retentionVariables] }, env },
  );
}

type Say = (text: string) => Promise<void>;

async function dropEvents(deps: PassDeps, before: string, say: Say): Promise<void> {
  const months: DroppedMonth[] = [];
  for await (const dropped of dropMonths(deps, before)) {
    months.push(dropped);
    const { month, logs, entries } = dropped;
    await say(`Dropped ${month}: ${entries} entries of ${logs} logs are declared.\n`);
  }
  if (months.length === 0) await say(`There is no month before ${before}.\n`);
}

async function dropOldUsage({ writes }: PassDeps, before: string, say: Say): Promise<void> {
  // a transaction that deadlocks with another job is repeated
  const { counts, events } = await writes.transaction("drop_usage", (tx) => dropUsage(tx, before));
  if (counts === 0 && events === 0) return;
  await say(`Dropped usage before ${before}: ${counts} counts and ${events} usage events.\n`);
}
