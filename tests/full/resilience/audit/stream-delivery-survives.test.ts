import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type AuditService, auditClient } from "../../../app/audit/audit-service.ts";
import { exportProof, ORGANIZATION_LOG, writeEvents } from "../../../app/audit/proof-bed.ts";
import {
  callStreams,
  proven,
  STREAMS,
  startReceiver,
  streamVariables,
  type TestReceiver,
} from "../../../app/audit/streams-bed.ts";
import { atTestEnd } from "../../../support/at-test-end.ts";
import {
  freshDatabase,
  type RunningProcess,
  services,
  startProcess,
  waitFor,
} from "../../../support/index.ts";

setDefaultTimeout(120_000);

function newReceiver(): TestReceiver {
  const receiver = startReceiver();
  atTestEnd(() => receiver.stop());
  return receiver;
}

/**
 * Waits until the log of organization-1 is sealed, and returns its head. An export waits only a few seconds for the
 * sealer, which another replica may have to replace first.
 */
async function sealedHead(audit: AuditService) {
  const response = await audit.get(ORGANIZATION_LOG, { Accept: "application/x-ndjson" });
  const written = (await response.text()).trimEnd().split("\n");
  const final = written.filter((line) => JSON.parse(line).outcome !== "pending");
  const isSealed = async () => {
    const { head } = (await exportProof(audit)).end;
    return head.position === written.length + final.length && head;
  };
  return waitFor(isSealed, { what: "the seal of all events", timeoutMs: 60_000 });
}

/** Waits until the receiver has all entries of the log. Expects that they are complete and in order. */
async function caughtUp(audit: AuditService, receiver: TestReceiver): Promise<void> {
  const head = await sealedHead(audit);
  const isComplete = () => proven(receiver).position === head.position;
  await waitFor(isComplete, { what: "all entries at the receiver", timeoutMs: 60_000 });
  expect(proven(receiver).chain).toBe(head.chain);
}

// AU-102, AU-105
describe.skipIf(!services().postgres.real)("a replica that delivers a stream", () => {
  /** Starts a replica that delivers a stream to `receiver`. `startOther` starts a second replica. */
  async function replica(receiver: TestReceiver) {
    const variables = { DATABASE_URL: await freshDatabase(), ...streamVariables([receiver.port]) };
    const start = () => startProcess("apps/audit/main.ts", variables);
    const client = ({ url, internalUrl }: RunningProcess) =>
      auditClient(variables.DATABASE_URL, url, internalUrl, async () => {});
    const first = await start();
    const audit = client(first);
    await callStreams(audit, "POST", STREAMS, { url: receiver.url });
    await writeEvents(audit, 3);
    await waitFor(() => receiver.calls.length > 0, { timeoutMs: 20_000 });
    const startOther = async () => {
      const second = await start();
      return { second, other: client(second) };
    };
    return { first, audit, startOther };
  }

  /**
   * Starts a replica, holds the responses to its calls, and starts a second replica during such a call.
   */
  async function replicasDuringCall(receiver: TestReceiver) {
    const { first, audit, startOther } = await replica(receiver);
    const held = heldCalls(receiver);
    await writeEvents(audit, 5);
    await held.reached;
    return { first, held, ...(await startOther()) };
  }

  test("is replaced when it is killed during a call; no entry is lost or out of order", async () => {
    const receiver = newReceiver();
    const { first, second, other, held } = await replicasDuringCall(receiver);
    const before = receiver.calls.length;
    await first.kill();
    held.end();
    await waitFor(() => receiver.calls.length > before, { what: "a call by the survivor" });
    held.release();
    await writeEvents(other, 20);
    await caughtUp(other, receiver);
    await second.stop();
  });
});

/**
 * Holds the responses to calls until `end`: a call that times out before, because the machine is busy, is followed by
 * another held call. `reached` resolves when the first call arrives. `release` sends the held responses.
 */
function heldCalls(receiver: TestReceiver) {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  receiver.answer = async () => {
    reached.resolve();
    await released.promise;
    return new Response(null);
  };
  const end = () => {
    receiver.answer = () => new Response(null);
  };
  return { reached: reached.promise, end, release: released.resolve };
}
