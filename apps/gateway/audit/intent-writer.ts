import { type Clock, pause, unstalledClock } from "@ostiary/lib/async";
import {
  BATCH_MAX,
  type IdentifiedIntent,
  type IntentWriteResult,
  intentResultsSchema,
} from "@ostiary/lib/contracts/audit";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { CallFailed } from "@ostiary/lib/runtime/bounded-call";
import type { AuditClient } from "./audit-client.ts";
import { BatchedCalls, type CallOptions, resultsReader } from "./batched-calls.ts";

/** An intent, and the deadline for all attempts to send it, in elapsed milliseconds of the clock. */
interface TimedIntent {
  readonly intent: IdentifiedIntent;
  readonly endMs: number;
}

interface IntentTry {
  readonly status: number | null;
  /** Whether the intent may be stored although no response confirmed it. */
  readonly maybeWritten: boolean;
  readonly reason: string;
}

export class IntentUnwritten extends Error {
  /** The last attempt. `maybeWritten` is true if any attempt may have stored the intent. */
  readonly tried: IntentTry;

  constructor(tried: IntentTry) {
    super(`The audit intent was not written: ${tried.reason}.`);
    this.name = "IntentUnwritten";
    this.tried = tried;
  }
}

const ATTEMPTS = 3;
const ATTEMPT_TIMEOUT_MS = 500;
const TOTAL_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const REFUSED = 422;
const UNTRIED: IntentTry = { status: null, maybeWritten: false, reason: "no time was left" };

/** Writes intents with up to 3 attempts within 1 s, each of at most 500 ms (GW-138). */
export class IntentWriter {
  readonly #client: Pick<AuditClient, "putIntent" | "postIntents">;
  readonly #clock: Clock;
  readonly #batched: BatchedCalls<TimedIntent, IntentTry>;

  constructor(client: AuditClient, { clock = unstalledClock, tracing }: CallOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#batched = new BatchedCalls(
      {
        itemsMax: BATCH_MAX,
        alone: (timed) => this.#alone(timed),
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

  /**
   * Writes an intent. The first attempt may share a call with other intents. All attempts send the same
   * intent, which the audit service stores once.
   *
   * @throws IntentUnwritten if no attempt succeeds
   */
  async write(intent: IdentifiedIntent): Promise<void> {
    const endMs = this.#clock.elapsedMs() + TOTAL_MS;
    const timed = { intent, endMs };
    let tried = await this.#batched.withOthers(timed);
    let { maybeWritten } = tried;
    for (let attempt = 1; tried.status !== 200 && tried.status !== 201; attempt++) {
      const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random());
      const isLast = attempt === ATTEMPTS || this.#clock.elapsedMs() + pauseMs >= endMs;
      if (isLast || tried.status === REFUSED) throw new IntentUnwritten({ ...tried, maybeWritten });
      await pause(this.#clock, pauseMs);
      tried = await this.#alone(timed);
      maybeWritten ||= tried.maybeWritten;
    }
  }

  async #alone({ intent: { request_id, ...intent }, endMs }: TimedIntent): Promise<IntentTry> {
    const leftMs = Math.floor(endMs - this.#clock.elapsedMs());
    if (leftMs < 1) return UNTRIED;
    const timeoutMs = Math.min(ATTEMPT_TIMEOUT_MS, leftMs);
    return this.#client.putIntent(request_id, intent, timeoutMs).then(triedBy, failedBy);
  }
}

/** Returns the result of a PUT whose response has `status`. */
function triedBy(status: number): IntentTry {
  return { status, maybeWritten: status >= 500, reason: `the audit service responded with ${status}` };
}

function failedBy(error: unknown): IntentTry {
  const maybeWritten = !(error instanceof CallFailed) || error.sent;
  return { status: null, maybeWritten, reason: reasonOf(error) };
}

const STATUS_OF_RESULT: Readonly<Record<IntentWriteResult["result"], number>> = {
  created: 201,
  existing: 200,
  invalid: REFUSED,
};
