import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { services, waitFor } from "../../support/index.ts";
import { type AuditService, intent, requestId } from "./audit-service.ts";
import { callStreams, startReceiver, startStreamingAudit, type TestReceiver } from "./streams-bed.ts";

setDefaultTimeout(240_000);

const ORGANIZATIONS = 14;
const STREAMS_EACH = 10;
/** What a replica delivers at once, at most. */
const DELIVERIES_MAX = 128;
const SOON = { timeout_ms: 200_000 };

/** A receiver that takes calls and never answers. */
class SilentReceiver {
  readonly open = new Set<Socket>();
  most = 0;
  readonly #server: Server = createServer((socket) => {
    this.open.add(socket);
    this.most = Math.max(this.most, this.open.size);
    socket.resume();
    socket.on("error", () => {});
    socket.on("close", () => this.open.delete(socket));
  });

  async listen(): Promise<number> {
    const listening = Promise.withResolvers<void>();
    this.#server.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** Ends all connections, so that those who wait learn that the receiver is gone. */
  close(): void {
    this.#server.close();
    for (const socket of this.open) socket.destroy();
  }
}

// AU-105, AU-187
describe.skipIf(!services().postgres.real)("many streams whose receivers never answer", () => {
  const silent = new SilentReceiver();
  let quick: TestReceiver;
  let port: number;
  let audit: AuditService;
  beforeAll(async () => {
    quick = startReceiver();
    port = await silent.listen();
    audit = await startStreamingAudit([port, quick.port]);
  });
  afterAll(async () => {
    silent.close();
    await audit.stop();
    quick.stop();
  });

  const create = async (organization_id: string, url: string) => {
    const path = `/organizations/${organization_id}/audit-streams`;
    expect((await callStreams(audit, "POST", path, { url })).status).toBe(201);
  };

  test("have bounded calls in flight, and delay no other stream", async () => {
    const dead = Array.from({ length: ORGANIZATIONS }, (_, n) => `dead-${n}`);
    await Promise.all(
      dead.flatMap((id) =>
        Array.from({ length: STREAMS_EACH }, () => create(id, `http://127.0.0.1:${port}/`)),
      ),
    );
    await create("well", quick.url);
    await Promise.all(dead.map((organization_id) => audit.put(requestId(), intent({ organization_id }))));
    // more streams hang than the lanes for fast receivers have places
    await waitFor(() => silent.most > 48, { ...SOON, what: "calls that hang" });
    for (let round = 1; round <= 3; round++) {
      await audit.put(requestId(), intent({ organization_id: "well" }));
      await waitFor(() => quick.calls.length >= round, {
        ...SOON,
        what: `delivery ${round} of the other stream`,
      });
    }
    expect(silent.most).toBeLessThanOrEqual(DELIVERIES_MAX);
    const { audit_streams } = (await callStreams(audit, "GET", "/organizations/well/audit-streams")).body;
    expect(audit_streams).toMatchObject([{ status: "active", lag_events: 0 }]);
  });
});
