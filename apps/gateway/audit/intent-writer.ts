import type { AuditIntent } from "@ostiary/lib/contracts/audit";
import pRetry, { AbortError } from "p-retry";
import { CallFailed } from "../upstream/bounded-call.ts";
import type { AuditClient } from "./client.ts";

const ATTEMPTS = 3;
const ATTEMPT_TIMEOUT_MS = 500;
const TOTAL_MS = 1_000;
const FIRST_PAUSE_MS = 100;

/** The audit service did not confirm an intent. */
export class IntentUnwritten extends Error {
  /** Whether the intent may stand in the log all the same, because an answer was lost or unclear. */
  readonly maybeWritten: boolean;
  /** The service's answer to the last attempt; null when there was none. */
  readonly status: number | null;

  constructor(reason: string, maybeWritten: boolean, status: number | null) {
    super(`The audit intent was not written: ${reason}.`);
    this.name = "IntentUnwritten";
    this.maybeWritten = maybeWritten;
    this.status = status;
  }
}

/**
 * Writes an intent: up to 3 attempts within 1 s, each of at most 500 ms (Identity specification, Delivery). All
 * attempts send the same body, which the service takes once. Rejects with {@link IntentUnwritten}.
 */
export async function writeIntent(
  client: Pick<AuditClient, "putIntent">,
  request_id: string,
  intent: AuditIntent,
): Promise<void> {
  const deadline = performance.now() + TOTAL_MS;
  let last = new IntentUnwritten("no time was left", false, null);

  async function attempt(): Promise<void> {
    const left = Math.floor(deadline - performance.now());
    if (left < 1) throw new AbortError(last);
    const unwritten = await tryOnce(client, request_id, intent, Math.min(ATTEMPT_TIMEOUT_MS, left), last);
    if (unwritten === null) return;
    last = unwritten;
    throw unwritten.status === REFUSED ? new AbortError(unwritten) : unwritten;
  }

  await pRetry(attempt, {
    retries: ATTEMPTS - 1,
    minTimeout: FIRST_PAUSE_MS,
    randomize: true,
    maxRetryTime: TOTAL_MS,
  });
}

const REFUSED = 422;

/** null once the intent is recorded, else why it is not. */
async function tryOnce(
  client: Pick<AuditClient, "putIntent">,
  request_id: string,
  intent: AuditIntent,
  timeout_ms: number,
  before: IntentUnwritten,
): Promise<IntentUnwritten | null> {
  try {
    const status = await client.putIntent(request_id, intent, timeout_ms);
    if (status === 200 || status === 201) return null;
    const maybeWritten = before.maybeWritten || status >= 500;
    return new IntentUnwritten(`the audit service answered ${status}`, maybeWritten, status);
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    return new IntentUnwritten(error.message, before.maybeWritten || error.sent, null);
  }
}
