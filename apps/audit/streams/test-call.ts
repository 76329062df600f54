import { type KeyedSemaphore, NoPermit } from "@ostiary/lib/async";
import { rateLimited } from "@ostiary/lib/domain/errors";
import { ulid } from "ulid";
import { Receiver, type ReceiverDeps } from "../receivers/receiver-call.ts";
import { secretsThatSign } from "./secret-sql.ts";
import { signedHeaders } from "./secrets.ts";
import { type AuditStreamTest, tooManyTestCalls } from "./stream.ts";
import { type StreamCommandDeps, secretsOf } from "./stream-commands.ts";
import { endPause, type StreamAddress, selectReceiver } from "./stream-sql.ts";

export interface TestCallDeps extends StreamCommandDeps {
  receivers: ReceiverDeps;
  /** A permit for each test request of an organization that may run at once in this process. */
  testCalls: KeyedSemaphore;
}

const TEST_RETRY_AFTER_SECONDS = 10;

/**
 * Sends the receiver a signed message without an event, and returns the result (AU-99).
 *
 * @throws ApiError 429 if too many test requests of the organization already run
 */
export async function testStream(deps: TestCallDeps, address: StreamAddress): Promise<AuditStreamTest> {
  const release = await deps.testCalls.acquire(address.organization_id, 0).catch((error: unknown) => {
    if (!(error instanceof NoPermit)) throw error;
    throw rateLimited(TEST_RETRY_AFTER_SECONDS, { message: tooManyTestCalls.message });
  });
  return callForTest(deps, address).finally(release);
}

async function callForTest(deps: TestCallDeps, address: StreamAddress): Promise<AuditStreamTest> {
  const { writes, clock } = deps;
  const stream = await selectReceiver(writes, address);
  const box = secretsOf(deps);
  const secrets = secretsThatSign(stream).map((text) => box.open(text, stream.id));
  const body = Buffer.from(
    JSON.stringify({
      type: "audit.test",
      timestamp: new Date(clock.now()).toISOString(),
      data: { stream_id: stream.id, organization_id: address.organization_id },
    }),
  );
  const receiver = new Receiver(stream.url, deps.receivers);
  const begunMs = clock.elapsedMs();
  try {
    const message = { id: `test_${ulid(clock.now())}`, body };
    const result = await receiver.post(body, signedHeaders(message, secrets, clock.now()));
    const duration_ms = Math.round(clock.elapsedMs() - begunMs);
    if (result.outcome === "aborted")
      throw new Error("A test call has no abort signal, but it ended as aborted.");
    if (result.outcome === "refused")
      return { delivered: false, status: result.status, error: result.error, duration_ms };
    await endPause(writes, address);
    return { delivered: true, status: result.status, error: null, duration_ms };
  } finally {
    receiver.close();
  }
}
