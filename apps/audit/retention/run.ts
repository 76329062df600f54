import { randomUUID } from "node:crypto";
import { systemClock } from "@ostiary/lib/async";
import { monthOf } from "@ostiary/lib/domain/proof";
import { type Environment, integer, loadConfig, wholeNumber } from "@ostiary/lib/runtime/config";
import { runJob, StartRefused } from "@ostiary/lib/runtime/service";
import { type Database, lacksPrivilege } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { auditProgram } from "../config.ts";
import { checkOwnerConfig, type OwnerConfig, openAsOwner, ownerVariables } from "../database-owner.ts";
import type { PassDeps } from "../sealing/seal-pass.ts";
import { SealedState } from "../sealing/sealed-state.ts";
import { loadSigningKey } from "../signing-key/key-file.ts";
import { dropUsage } from "../usage/retention-sql.ts";
import { type DroppedMonth, dropMonths } from "./drop-months.ts";

/** Runs `ostiary audit drop --before MONTH` as a process that reports each dropped month and exits. */
export function runDrop(env: Environment, before: string): Promise<void> {
  return runJob((say) => drop(loadConfig(ownerVariables, env, checkOwnerConfig), before, say), {
    program: auditProgram,
    env,
  });
}

const MONTHS_MAX = 1_200;
/** Usage reports may be 400 days late (AU-121), so a shorter retention would lose late counts. */
const USAGE_MONTHS_MIN = 14;

/** The environment variables of `ostiary audit retention`. */
export const retentionVariables = Type.Object({
  ...ownerVariables.properties,
  AUDIT_RETENTION_MONTHS: wholeNumber(
    1,
    MONTHS_MAX,
    "Number of whole months in UTC to keep before the current one.",
  ),
  AUDIT_USAGE_RETENTION_MONTHS: integer(
    24,
    USAGE_MONTHS_MIN,
    MONTHS_MAX,
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
      const config = loadConfig(retentionVariables, env, checkOwnerConfig);
      const nowMs = systemClock.now();
      await drop(config, monthOf(nowMs, -config.AUDIT_RETENTION_MONTHS), say);
      await dropOldUsage(config, monthOf(nowMs, -config.AUDIT_USAGE_RETENTION_MONTHS), say);
    },
    { program: { ...auditProgram, parts: [retentionVariables] }, env },
  );
}

async function dropOldUsage(config: OwnerConfig, before: string, say: Say): Promise<void> {
  const database = await openAsOwner(config);
  try {
    const { counts, events } = await dropUsage(database, before);
    if (counts === 0 && events === 0) return;
    await say(`Dropped usage before ${before}: ${counts} counts and ${events} usage events.\n`);
  } finally {
    await database.close();
  }
}

type Say = (text: string) => Promise<void>;

async function drop(config: OwnerConfig, before: string, say: Say): Promise<void> {
  const database = await openAsOwner(config);
  try {
    const months: DroppedMonth[] = [];
    for await (const dropped of dropMonths(await dropDeps(config, database), before)) {
      months.push(dropped);
      const { month, logs, entries } = dropped;
      await say(`Dropped ${month}: ${entries} entries of ${logs} logs are declared.\n`);
    }
    if (months.length === 0) await say(`There is no month before ${before}.\n`);
  } catch (error) {
    if (!lacksPrivilege(error)) throw error;
    throw new StartRefused("The user of DATABASE_URL may not drop months: use the user that owns the log.");
  } finally {
    await database.close();
  }
}

async function dropDeps({ AUDIT_SIGNING_KEY_FILE }: OwnerConfig, database: Database): Promise<PassDeps> {
  return {
    reads: database,
    writes: database,
    key: AUDIT_SIGNING_KEY_FILE === undefined ? null : await loadSigningKey(AUDIT_SIGNING_KEY_FILE),
    origin: null,
    sealed: new SealedState(database),
    clock: systemClock,
    log: {
      error: (fields, message) => void process.stderr.write(`${message}: ${JSON.stringify(fields)}\n`),
    },
    holder: randomUUID(),
  };
}
