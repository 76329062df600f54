import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { CALL_TIMEOUT_MS } from "@ostiary/audit/streams/receiver-call";
import { type Clock, unstalledClock } from "@ostiary/lib/async";
import type { AuditService } from "../../../app/audit/audit-service.ts";
import { exportProof, writeEvents } from "../../../app/audit/proof-bed.ts";
import {
  callStreams,
  type DeliveredBody,
  ProvingReceiver,
  START,
  STREAMS,
  startStreamingAudit,
} from "../../../app/audit/streams-bed.ts";
import { freePort, services, waitFor } from "../../../support/index.ts";

setDefaultTimeout(240_000);

const SOON = { timeoutMs: 60_000 };

/** A clock with a call timeout that a test can shorten. */
class CallClock implements Clock {
  callMs = CALL_TIMEOUT_MS;
  now = unstalledClock.now;
  elapsedMs = unstalledClock.elapsedMs;
  after = (ms: number, work: () => void) =>
    unstalledClock.after(ms === CALL_TIMEOUT_MS ? this.callMs : ms, work);
}

const SHORT_CALL_MS = 500;

/** The ways in which a receiver makes a call fail as soon as it has read the request body. */
const FAULTS: Readonly<Record<string, (socket: Socket) => void>> = {
  "answers 500": (socket) => void socket.end("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"),
  "breaks off in its answer": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", () => socket.resetAndDestroy());
  },
  "asks to wait": (socket) =>
    void socket.end("HTTP/1.1 429 Wait\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"),
};

/** Ways in which a receiver lets a call time out, after it has read the request body. */
const WAITS: Readonly<Record<string, (socket: Socket) => void>> = {
  "never answers": () => {},
};

const EARLY = "closes in the middle of the call";

/** A receiver that lets the next call fail as `next` says, and then accepts all calls. */
class FailingReceiver {
  readonly accepted: DeliveredBody[] = [];
  /** The bodies of all calls that arrived completely, including calls that then failed. */
  readonly all: DeliveredBody[] = [];
  /** The number of failed calls, and the number of entries in their bodies. */
  refused = { calls: 0, entries: 0 };
  /** How the next call fails: a key of `FAULTS` or `WAITS`, or `EARLY`. Null if the call is accepted. */
  next: string | null = null;
  readonly #server: Server;
  /** The same port after a restart, which the system must not assign to another program in the meantime. */
  readonly port = freePort();

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("error", () => {}); // The client may abort the call.
      if (this.next === EARLY) {
        this.next = null;
        this.refused.calls += 1;
        request.once("data", () => request.socket.resetAndDestroy());
        return;
      }
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body: DeliveredBody = JSON.parse(Buffer.concat(chunks).toString());
        const fault = this.next === null ? undefined : (FAULTS[this.next] ?? WAITS[this.next]);
        this.all.push(body);
        if (fault === undefined) {
          this.accepted.push(body);
          response.writeHead(204).end();
          return;
        }
        this.next = null;
        this.refused.calls += 1;
        this.refused.entries += body.data.entries.length;
        fault(request.socket);
      });
    });
  }

  listen(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.listen(this.port, "127.0.0.1", resolve);
    return promise;
  }

  close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    return promise;
  }

  /**
   * Expects that each entry in the bodies follows the one before it in the chain. Returns the end of the
   * chain.
   */
  proven(bodies = this.accepted): ProvingReceiver {
    const proving = new ProvingReceiver(START);
    for (const body of bodies) proving.take(body);
    return proving;
  }
}

describe.skipIf(!services().postgres.real)("a stream whose receiver fails", () => {
  const clock = new CallClock();
  let receiver: FailingReceiver;
  let audit: AuditService;
  let stream_id: string;
  beforeAll(async () => {
    receiver = new FailingReceiver();
    await receiver.listen();
    audit = await startStreamingAudit([receiver.port], { clock });
    const url = `http://127.0.0.1:${receiver.port}/`;
    stream_id = (await callStreams(audit, "POST", STREAMS, { url })).body.id;
  });
  afterAll(async () => {
    await audit.stop();
    await receiver.close();
  });

  afterEach(() => {
    clock.callMs = CALL_TIMEOUT_MS;
  });

  const read = async () => (await callStreams(audit, "GET", `${STREAMS}/${stream_id}`)).body;

  /** Waits until the receiver has accepted all entries. Expects that they are complete and in order. */
  async function caughtUp(): Promise<void> {
    const { head } = (await exportProof(audit)).end;
    await waitFor(() => receiver.accepted.at(-1)?.data.entries.at(-1)?.position === head.position, SOON);
    const got = receiver.proven();
    expect([got.position, got.chain]).toEqual([head.position, head.chain]);
    // Only entries of a failed call may arrive twice.
    expect(receiver.proven(receiver.all).duplicates).toBeLessThanOrEqual(receiver.refused.entries);
    await waitFor(async () => (await read()).status === "active", SOON);
  }

  // AU-101, AU-102, AU-104
  test.each([...Object.keys(FAULTS), ...Object.keys(WAITS)])(
    "loses no entry and keeps the order when the receiver %s",
    async (fault) => {
      const before = receiver.refused.calls;
      if (fault in WAITS) clock.callMs = SHORT_CALL_MS;
      receiver.next = fault;
      await writeEvents(audit, 3);
      await waitFor(() => receiver.next === null, SOON);
      clock.callMs = CALL_TIMEOUT_MS;
      await writeEvents(audit, 3);
      await caughtUp();
      expect(receiver.refused.calls).toBeGreaterThan(before);
    },
  );

  // AU-102, AU-104
  test(`loses no entry and keeps the order when the receiver ${EARLY}`, async () => {
    const params = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`p${n}`, "x".repeat(7_000)]));
    receiver.next = EARLY;
    await writeEvents(audit, 6, { params });
    await waitFor(() => receiver.next === null, SOON);
    await caughtUp();
  });

  // AU-102, AU-104
  test("continues where it stopped after the receiver was down", async () => {
    await receiver.close();
    await writeEvents(audit, 4);
    await waitFor(async () => (await read()).status === "failing", SOON);
    await receiver.listen();
    await caughtUp();
  });
});
