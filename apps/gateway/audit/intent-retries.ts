import { type Clock, pause, unstalledClock } from "@ostiary/lib/async";
import type { IdentifiedIntent } from "@ostiary/lib/contracts/audit";
import type { IntentCalls, IntentTry } from "./intent-calls.ts";

/** The error for an intent that the audit service did not confirm. */
export class IntentUnwritten extends Error {
  /** Whether the intent may be stored although no response confirmed it. */
  readonly maybeWritten: boolean;
  /** The status of the response to the last attempt, or null if there was no response. */
  readonly status: number | null;

  constructor(reason: string, maybeWritten: boolean, status: number | null) {
    super(`The audit intent was not written: ${reason}.`);
    this.name = "IntentUnwritten";
    this.maybeWritten = maybeWritten;
    this.status = status;
  }
}

const ATTEMPTS = 3;
const TOTAL_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const REFUSED = 422;

/**
 * Writes an intent with up to 3 attempts within 1 s (GW-138). The first attempt may share a call with other
 * intents. All attempts send the same intent, which the audit service stores once.
 *
 * @throws IntentUnwritten if no attempt succeeds
 */
export async function writeIntent(
  calls: Pick<IntentCalls, "withOthers" | "alone">,
  intent: IdentifiedIntent,
  clock: Clock = unstalledClock,
): Promise<void> {
  const endMs = clock.elapsedMs() + TOTAL_MS;
  const timed = { intent, endMs };
  let tried = await calls.withOthers(timed);
  let maybeWritten = tried.maybeWritten;
  for (let attempt = 1; !isRecorded(tried); attempt++) {
    const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random());
    const isLast = attempt === ATTEMPTS || clock.elapsedMs() + pauseMs >= endMs;
    if (isLast || tried.status === REFUSED) {
      throw new IntentUnwritten(tried.reason, maybeWritten, tried.status);
    }
    await pause(clock, pauseMs);
    tried = await calls.alone(timed);
    maybeWritten ||= tried.maybeWritten;
  }
}

function isRecorded({ status }: IntentTry): boolean {
  return status === 200 || status === 201;
}
