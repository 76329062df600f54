import { type Clock, unstalledClock } from "@ostiary/lib/async";
import {
  BATCH_MAX,
  type IdentifiedIntent,
  type IntentAnswer,
  intentResultsSchema,
} from "@ostiary/lib/contracts/audit";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { CallFailed } from "@ostiary/lib/runtime/bounded-call";
import { BatchedCalls, type CallOptions, resultsReader } from "./batched-calls.ts";
import type { AuditClient } from "./client.ts";

/** An intent, and the deadline for all attempts to send it, in elapsed milliseconds of the clock. */
export interface TimedIntent {
  readonly intent: IdentifiedIntent;
  readonly endMs: number;
}

/** The result of one attempt to write an intent. */
export interface IntentTry {
  /** The status of the response, or null if there was no response. */
  readonly status: number | null;
  /** Whether the intent may be stored although no response confirmed it. */
  readonly maybeWritten: boolean;
  readonly reason: string;
}

const ATTEMPT_TIMEOUT_MS = 500;
const UNTRIED: IntentTry = { status: null, maybeWritten: false, reason: "no time was left" };

type IntentClient = Pick<AuditClient, "putIntent" | "postIntents">;

/** Makes single attempts to send an intent, each of at most 500 ms (GW-138). */
export class IntentCalls {
  readonly #client: IntentClient;
  readonly #clock: Clock;
  readonly #batched: BatchedCalls<TimedIntent, IntentTry>;

  constructor(client: IntentClient, { clock = unstalledClock, tracing }: CallOptions = {}) {
    this.#client = client;
    this.#clock = clock;
    this.#batched = new BatchedCalls(
      {
        itemsMax: BATCH_MAX,
        alone: (timed) => this.alone(timed),
        together: (timed) =>
          client.postIntents(
            timed.map(({ intent }) => intent),
            ATTEMPT_TIMEOUT_MS,
          ),
        triedBy,
        failedBy,
        resultsIn: resultsReader(intentResultsSchema, ({ result }) => triedBy(STATUS_OF_RESULT[result])),
      },
      { clock, tracing },
    );
  }

  /** Sends the intent in a call that other intents may share. Never rejects. */
  withOthers(timed: TimedIntent): Promise<IntentTry> {
    return this.#batched.withOthers(timed);
  }

  /** Sends the intent in a separate call. Never rejects. */
  async alone({ intent: { request_id, ...intent }, endMs }: TimedIntent): Promise<IntentTry> {
    const leftMs = Math.floor(endMs - this.#clock.elapsedMs());
    if (leftMs < 1) return UNTRIED;
    const timeoutMs = Math.min(ATTEMPT_TIMEOUT_MS, leftMs);
    return this.#client.putIntent(request_id, intent, timeoutMs).then(triedBy, failedBy);
  }
}

/** Returns the result of a PUT whose response has `status`. */
function triedBy(status: number): IntentTry {
  return { status, maybeWritten: status >= 500, reason: `the audit service answered ${status}` };
}

function failedBy(error: unknown): IntentTry {
  const maybeWritten = !(error instanceof CallFailed) || error.sent;
  return { status: null, maybeWritten, reason: reasonOf(error) };
}

const STATUS_OF_RESULT: Readonly<Record<IntentAnswer["result"], number>> = {
  created: 201,
  existing: 200,
  invalid: 422,
};
