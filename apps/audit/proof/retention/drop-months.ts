import { pause } from "@ostiary/lib/async";
import { monthEnd, monthOf } from "@ostiary/lib/domain/proof";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { sqlState } from "@ostiary/lib/runtime/stores/database";
import type { Partition } from "../../events/partitions-sql.ts";
import { alteredOf } from "../seal/altered-chains.ts";
import { type Declared, declare } from "../seal/declare.ts";
import type { PassDeps } from "../seal/pass-deps.ts";
import { sealAll } from "../seal/seal-all.ts";
import { chainsOfMonth, MonthAltered } from "./chains-of-month.ts";
import { dropPartition, type PartitionRow, selectNow, selectPartitions } from "./retention-sql.ts";

/** The maximum number of chains whose declarations one leaf covers. */
const DECLARED_MAX = 1_000;
/**
 * The maximum difference between the clocks of this machine and of the database. A larger difference means a wrong
 * clock.
 */
const CLOCKS_APART_MS_MAX = 60 * 60 * 1000;
const LOCK_NOT_AVAILABLE = "55P03";
const UNDEFINED_TABLE = "42P01";
const TRIES_MAX = 120;
const RETRY_MS = 1_000;

export interface DroppedMonth {
  month: string;
  /** Number of chains that got a declaration of the month. */
  logs: number;
  entries: number;
}

/**
 * Drops the months before `before`, the oldest first. For each month, verifies the events against the seal, adds a
 * declaration to each chain with entries of the month, and drops the partition. After an interruption, the
 * next command continues where this one stopped.
 *
 * @throws MonthAltered for a month with an event that differs from the sealed one; that month is not dropped
 */
export async function* dropMonths(deps: PassDeps, before: string): AsyncGenerator<DroppedMonth, void, void> {
  const { reads } = deps;
  await checkClocks(deps);
  await sealAll(deps);
  for (const month of monthsBefore(await selectPartitions(reads), before)) {
    const dropped = await dropMonth(deps, month).catch(nullWhereGone);
    if (dropped !== null) yield dropped;
  }
}

/**
 * Refuses to continue if a clock is wrong (OP-93), because a month that is dropped too early is lost.
 *
 * @throws StartRefused if this machine and the database do not agree on the time
 */
async function checkClocks({ reads, clock }: PassDeps): Promise<void> {
  const apartMs = Math.abs(clock.now() - (await selectNow(reads)).ms);
  if (apartMs <= CLOCKS_APART_MS_MAX) return;
  throw new StartRefused(
    `The clocks of this machine and of the database differ by ${Math.round(apartMs / 60_000)} minutes, so the age of a month is uncertain. Set both clocks, then try again.`,
  );
}

/** Returns null if the error means that another command dropped the month first; otherwise rethrows the error. */
function nullWhereGone(error: unknown): null {
  if (sqlState(error) === UNDEFINED_TABLE) return null;
  throw error;
}

async function dropMonth(deps: PassDeps, month: Partition): Promise<DroppedMonth> {
  const dropped = { month: month.month, logs: 0, entries: 0 };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { snapshot } = await selectNow(deps.reads);
    await sealAll(deps);
    await declareAll(deps, month, snapshot, dropped);
    if (await dropOnceFree(deps, month, snapshot)) return dropped;
  }
  throw new StartRefused(`Events of ${month.month} were written during each attempt: try again later.`);
}

async function declareAll(
  deps: PassDeps,
  month: Partition,
  asOf: string,
  dropped: DroppedMonth,
): Promise<void> {
  const declared_at = new Date(deps.clock.now()).toISOString();
  const declaration = { kind: "retention" as const, month: month.month, declared_at };
  let batch: Declared[] = [];
  dropped.logs = 0;
  dropped.entries = 0;
  for await (const { owner, entries, isDeclared } of chainsOfMonth(deps.reads, month, asOf)) {
    dropped.logs += 1;
    dropped.entries += entries;
    if (!isDeclared) batch.push({ owner, declaration });
    if (batch.length < DECLARED_MAX) continue;
    await declareMonth(deps, batch);
    batch = [];
  }
  if (batch.length > 0) await declareMonth(deps, batch);
}

export async function declareMonth(deps: PassDeps, declared: readonly Declared[]): Promise<void> {
  const owners = declared.map(({ owner }) => owner);
  await declare(deps, owners, ({ chains, map }) => {
    const [altered] = alteredOf(chains, map);
    if (altered === undefined) return { declared, chains };
    throw new MonthAltered(`The chain of ${altered.owner}: ${altered.reason}`);
  });
}

/**
 * Drops the partition once no transaction uses it. Returns false if the month has changed since the snapshot `asOf`.
 */
async function dropOnceFree({ writes, clock }: PassDeps, month: Partition, asOf: string): Promise<boolean> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    try {
      return await writes.transaction("drop_partition", (tx) => dropPartition(tx, month, asOf));
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
    }
    await pause(clock, RETRY_MS);
  }
  throw new StartRefused(
    `The partition of ${month.month} is in use, for example by an export. Its declarations are kept: try again later.`,
  );
}

const BOUND = /^FOR VALUES FROM \('(\d{4}-\d{2})-01 00:00:00\+00'\) TO \('(\d{4}-\d{2})-01 00:00:00\+00'\)$/;

/**
 * Returns the partitions of the months before `before`, the oldest first.
 *
 * @throws StartRefused if a partition is not exactly one month
 */
function monthsBefore(partitions: readonly PartitionRow[], before: string): Partition[] {
  const months = partitions.flatMap(({ name, bound }) => {
    const [, month, next] = BOUND.exec(bound) ?? [];
    const isMonth = month !== undefined && next === monthOf(monthEnd(month));
    if (!isMonth) {
      throw new StartRefused(
        `The partition audit.${name} (${bound}) is not one month in UTC. Retention drops whole months only: split the partition first.`,
      );
    }
    return month < before ? [{ name, month }] : [];
  });
  return months.toSorted((a, b) => (a.month < b.month ? -1 : 1));
}
