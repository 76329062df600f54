import { pause } from "@ostiary/lib/async";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { sqlState } from "@ostiary/lib/runtime/stores/database";
import type { Partition } from "../partitions/partition.ts";
import { selectSigningKeys } from "../published-checkpoints/sql.ts";
import { type PassDeps, sealPass } from "../sealing/seal-pass.ts";
import { LogAltered } from "../sealing/sealed-state.ts";
import { selectState } from "../sealing/sealer-state-sql.ts";
import { declare } from "./declare.ts";
import { checkSettled, monthsBefore } from "./droppable-months.ts";
import {
  dropPartition,
  selectClock,
  selectLastDeclared,
  selectLostPlaces,
  selectNow,
  selectPartitions,
} from "./sql.ts";
import { type Undeclared, undeclaredPlaces } from "./undeclared-places.ts";

/** The maximum number of chains whose declarations one checkpoint covers. */
const DECLARED_MAX = 1_000;
/** The maximum difference between the clocks of this machine and of the database. A larger difference means a wrong clock. */
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
 * @throws LogAltered for a month with an event that differs from the sealed one; that month is not dropped
 */
export async function* dropMonths(deps: PassDeps, before: string): AsyncGenerator<DroppedMonth, void, void> {
  const { reads, writes, key, clock } = deps;
  await checkClocks(deps);
  checkSettled(before, clock.now());
  const state = await selectState(writes);
  if (state.checkpoint?.jws != null && key === null) {
    throw new StartRefused(
      "The checkpoints of this log are signed: set AUDIT_SIGNING_KEY_FILE to the service's key file.",
    );
  }
  if (key !== null && !(await selectSigningKeys(reads)).some(({ kid }) => kid === key.kid)) {
    throw new StartRefused(
      `The key ${key.kid} of AUDIT_SIGNING_KEY_FILE is not a key of this log: set it to the key of the service.`,
    );
  }
  // a killed command may have dropped the last declared month without this check; earlier months were checked
  const lastDeclared = await selectLastDeclared(reads);
  if (lastDeclared !== null) await checkKept(deps, lastDeclared);
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
  const apartMs = Math.abs(clock.now() - (await selectClock(reads)));
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
    const asOf = await selectNow(deps.reads);
    await sealAll(deps);
    await declareAll(deps, month, dropped);
    if (!(await dropOnceFree(deps, month, asOf))) continue;
    await checkKept(deps, month.month);
    return dropped;
  }
  throw new StartRefused(`Events of ${month.month} were written during each attempt: try again later.`);
}

/**
 * Checks that the chains still have the hashes of a dropped month.
 *
 * @throws LogAltered if a hash is missing or different
 */
async function checkKept({ reads }: PassDeps, month: string): Promise<void> {
  const lost = await selectLostPlaces(reads, month);
  if (lost === null) return;
  const { owner, from, to } = lost;
  throw new LogAltered(
    `The chain of ${owner ?? "an unknown owner"} does not have the declared hashes for the dropped entries of ${month} at positions ${from} to ${to}: they are missing or different`,
  );
}

async function declareAll(deps: PassDeps, month: Partition, dropped: DroppedMonth): Promise<void> {
  let batch: Undeclared[] = [];
  for await (const undeclared of undeclaredPlaces(deps.reads, month)) {
    batch.push(undeclared);
    dropped.logs += 1;
    dropped.entries += undeclared.ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    if (batch.length < DECLARED_MAX) continue;
    await declare(deps, month.month, batch);
    batch = [];
  }
  if (batch.length > 0) await declare(deps, month.month, batch);
}

/** Drops the partition once no transaction uses it. Returns false if the month has changed since the snapshot `asOf`. */
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

/** Seals everything that is committed, as the service's sealer does. */
async function sealAll(deps: PassDeps): Promise<void> {
  for (;;) {
    const state = await selectState(deps.writes);
    const { end } = await sealPass({ ...deps, holder: state.holder ?? deps.holder }, state);
    if (end === "done") return;
  }
}
