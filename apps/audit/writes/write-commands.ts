import type { Clock, SharedContext } from "@ostiary/lib/async";
import type { IntentWriteResult, OutcomeWriteResult } from "@ostiary/lib/contracts/audit";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { monotonicFactory } from "ulid";
import { isPartitionMissing } from "../events/partitions-sql.ts";
import type { WriteResult } from "../write-results.ts";
import { GroupedWriter, type GroupLimits } from "./grouped-writer.ts";
import { type Checked, checkedIntent, type PendingIntent } from "./intent.ts";
import { checkedOutcome, notAUserRoute } from "./outcome.ts";
import { applyOutcomes, insertIntents, type OutcomeResult, type OutcomeWrite } from "./write-sql.ts";

interface EventWriterDeps {
  database: Database;
  clock: Clock;
  keepPartitions: () => Promise<void>;
  /** Adds group writes to the traces of their requests. */
  tracing?: SharedContext;
}

/**
 * Limits of groups. Large groups are cheapest, because a statement with its commit costs as much as about twenty rows.
 */
const limits: GroupLimits = { groupMax: 256, writesMax: 2, queueMax: 20_000 };

/** Writes intents and outcomes, each kind in groups, and writes the intent of a request before its outcome. */
export class EventWriter {
  readonly #intents: GroupedWriter<PendingIntent, WriteResult>;
  readonly #outcomes: GroupedWriter<OutcomeWrite, OutcomeResult>;

  constructor({ database, clock, keepPartitions, tracing }: EventWriterDeps) {
    const nextId = ulidSource(clock);
    const insert = (intents: PendingIntent[]) =>
      insertIntents(
        database,
        intents.map((intent) => ({ id: nextId(), ...intent })),
      );
    this.#intents = new GroupedWriter(
      (intents) => withPartitions(() => insert(intents), keepPartitions),
      limits,
      tracing,
    );
    this.#outcomes = new GroupedWriter((outcomes) => applyOutcomes(database, outcomes), limits, tracing);
  }

  /** Creates the events whose requests the log does not have yet. */
  intents(writes: readonly PendingIntent[]): Promise<WriteResult[]> {
    return Promise.all(this.#intents.add(writes.map((item) => ({ key: item.request_id, item }))));
  }

  /** Sets the outcomes of pending events. Waits first for writes of their intents that are in flight. */
  async outcomes(writes: readonly OutcomeWrite[]): Promise<OutcomeResult[]> {
    await Promise.all(writes.map(({ request_id }) => this.#intents.settled(request_id)));
    return Promise.all(this.#outcomes.add(writes.map((item) => ({ key: item.request_id, item }))));
  }

  async drained(): Promise<void> {
    await this.#intents.drained();
    await this.#outcomes.drained();
  }
}

export async function writeIntents(
  writer: EventWriter,
  given: readonly unknown[],
  nowMs: number,
): Promise<IntentWriteResult[]> {
  const checked = given.map((intent) => checkedIntent(intent, nowMs));
  const results = await writer.intents(validOf(checked));
  const written = results.values();
  return checked.map(({ request_id, write, fields }) => {
    if (write === null) return { request_id, result: "invalid", fields };
    return { request_id, result: written.next().value ?? "existing" };
  });
}

export async function writeOutcomes(
  writer: EventWriter,
  given: readonly unknown[],
): Promise<OutcomeWriteResult[]> {
  const checked = given.map(checkedOutcome);
  const results = await writer.outcomes(validOf(checked));
  const written = results.values();
  return checked.map(({ request_id, write, fields }) => {
    if (write === null) return { request_id, result: "invalid", fields };
    const result = written.next().value ?? "not_found";
    if (result !== "not_a_user_route") return { request_id, result };
    return { request_id, result: "invalid", fields: [notAUserRoute] };
  });
}

function validOf<Write>(checked: readonly Checked<Write>[]): Write[] {
  return checked.flatMap(({ write }) => write ?? []);
}

/** Runs `write`; if a month lacks its partition, creates partitions and runs `write` once more. */
async function withPartitions<T>(write: () => Promise<T>, keepPartitions: () => Promise<void>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isPartitionMissing(error)) throw error;
    await keepPartitions();
    return write();
  }
}

/**
 * Returns a source of ULIDs that ascend within this process. After the clock is set back, ids follow the new time,
 * because reads derive the time of an event from its id.
 */
function ulidSource(clock: Clock): () => string {
  let lastMs = 0;
  let next = monotonicFactory();
  return () => {
    const nowMs = clock.now();
    if (nowMs < lastMs) next = monotonicFactory();
    lastMs = nowMs;
    return next(nowMs);
  };
}
