import type { Clock } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type CallResult, Receiver, type ReceiverDeps } from "../receivers/receiver-call.ts";
import type { Turn } from "./dispatcher.ts";
import { type FailureState, planRetry, type RetryPlan } from "./retry.ts";
import { type Message, signedHeaders } from "./secrets.ts";
import type { DeliveryMetrics } from "./stream-metrics.ts";

export interface DeliveryDeps {
  reads: Database;
  writes: Database;
  receivers: ReceiverDeps;
  clock: Clock;
  metrics: DeliveryMetrics;
  log: Pick<Logger, "error" | "warn">;
}

/** A call to a receiver takes long if it takes longer than this. */
export const SLOW_CALL_MS = 2_000;

/** The next entries of a stream, as a delivery request. */
export interface Step {
  messageId: string;
  /** Null if the format or the filter leaves out all entries. */
  body: Buffer | null;
  count: number;
  /**
   * Stores the position after the entries, and renews the lease. `callMs` is the duration of the delivery request, or
   * null without one. Returns false if the turn must end: the stream was changed or deleted, or the lease was lost.
   */
  advance: (callMs: number | null) => Promise<boolean>;
}

/** A stream whose lease this replica holds, and its position. */
export interface LeasedCursor {
  readonly url: string;
  failures(): FailureState;
  /** Returns null if the stream has nothing to deliver. */
  next(): Promise<Step | null>;
  /** Returns the secrets that sign, or null if one of them cannot be decrypted. */
  secrets(): readonly string[] | null;
  /** Records a delivery request that failed, and releases the lease. */
  fail(error: string, plan: RetryPlan): Promise<void>;
  /** Releases the lease if this replica still has it. */
  release(): Promise<void>;
}

/**
 * Delivers a stream for one time slice, called a turn (AU-102), and then releases the turn's lease. Sends each batch
 * only after the receiver has accepted the previous one. Stops when no entry is left, a delivery request fails or
 * the turn is over. A batch counts as delivered once the database has the new position: a crash before that
 * write repeats the batch.
 */
export async function deliverTurn(deps: DeliveryDeps, cursor: LeasedCursor, turn: Turn): Promise<void> {
  const receiver = new Receiver(cursor.url, deps.receivers);
  try {
    let hasMore = true;
    while (hasMore && !turn.signal.aborted) {
      hasMore = (await deliverNext(deps, cursor, receiver, turn)) && !turn.isOver();
    }
    await cursor.release();
  } finally {
    receiver.close();
  }
}

/** Delivers one batch. Returns whether more may follow in this turn. */
async function deliverNext(
  deps: DeliveryDeps,
  cursor: LeasedCursor,
  receiver: Receiver,
  turn: Turn,
): Promise<boolean> {
  const { clock, metrics } = deps;
  const step = await cursor.next();
  if (step === null) return false;
  const { messageId: id, body, count, advance } = step;
  if (body === null) return advance(null);
  const begunMs = clock.elapsedMs();
  const result = await send(deps, cursor, receiver, { id, body }, turn);
  const callMs = clock.elapsedMs() - begunMs;
  if (result.outcome === "aborted") return false;
  metrics.called(result.outcome, callMs / 1_000);
  if (result.outcome === "refused") {
    await cursor.fail(result.error, planRetry(cursor.failures(), { ...result, callMs }));
    return false;
  }
  metrics.delivered(count);
  return advance(callMs);
}

async function send(
  { clock }: DeliveryDeps,
  cursor: LeasedCursor,
  receiver: Receiver,
  message: Message,
  turn: Turn,
): Promise<CallResult> {
  const secrets = cursor.secrets();
  if (secrets === null) {
    const error = "The secret cannot be read: rotate it, or ask the operator.";
    return { outcome: "refused", status: null, error, retryAfterMs: null };
  }
  const cancel = clock.after(SLOW_CALL_MS, turn.yieldSlot);
  const headers = signedHeaders(message, secrets, clock.now());
  return receiver.post(message.body, headers, turn.signal).finally(cancel);
}
