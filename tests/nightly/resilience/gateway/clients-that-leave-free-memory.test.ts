import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { publicService } from "../../../support/gateway/gateway.ts";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import { OK, RawClient, type RawSocket, RawUpstream, spell } from "../../../support/http/raw-http.ts";
import { type RunningProcess, services, waitFor } from "../../../support/index.ts";
import { metricOf } from "../../../support/telemetry/metrics.ts";

setDefaultTimeout(60_000);

const MIB = 1_048_576;
const CLIENTS = 200;
const CHUNK = Buffer.alloc(65_536, "x");
/** The allowed growth of memory over all rounds. Responses that are not freed would take 512 MiB. */
const GROWTH_BYTES_MAX = 128 * MIB;

// GW-123
describe.skipIf(!services().etcd.real)("200 clients that leave during their requests", () => {
  const service = new RawUpstream(() => OK, { atHead: true });
  let gateway: RunningProcess;

  beforeAll(async () => {
    const things = publicService(service.url, { path: "/things", methods: ["GET", "POST"] });
    gateway = await startGateway({ services: { things }, env: { MAX_BODY_BYTES: "0" } });
  });

  afterAll(async () => {
    expect(await gateway.stop()).toBe(0);
    service.close();
  });

  const metric = (name: string) => metricOf(gateway, name);

  /** Sends until the connection closes, as fast as the peer reads. */
  function sendForEver(socket: RawSocket): void {
    const more = () => {
      while (socket.flushed && !socket.closed) socket.send(CHUNK);
    };
    socket.onDrain = more;
    more();
  }

  async function crowdSending(text: string): Promise<RawClient[]> {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => RawClient.connect(gateway.url)));
    for (const client of clients) {
      client.keep = false;
      client.onData = () => client.pause();
      client.send(text);
    }
    return clients;
  }

  async function allLeave(clients: RawClient[]): Promise<void> {
    for (const client of clients) client.destroy();
    await waitFor(() => service.open === 0, {
      timeoutMs: 20_000,
      what: "the end of the calls at the service",
    });
    await waitFor(async () => (await metric("gateway_open_upstream_calls")) === 0);
    service.requests.length = 0;
    service.sockets.length = 0;
  }

  test("end their calls to the service and free their memory if they did not read the response", async () => {
    service.handler = (_, socket) => {
      socket.send(
        `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${1_000_000 * MIB}\r\n\r\n`,
      );
      sendForEver(socket);
      return null;
    };
    const held: number[] = [];
    for (let round = 0; round < 4; round++) {
      const clients = await crowdSending(spell("GET", "/things"));
      await waitFor(() => clients.every((client) => client.receivedBytes > 0), { timeoutMs: 20_000 });
      await allLeave(clients);
      held.push(await metric("process_resident_memory_bytes"));
    }
    // Compares with the first round, because later rounds reuse the memory that it allocated.
    expect(Math.min(...held.slice(1)) - (held[0] ?? 0)).toBeLessThan(GROWTH_BYTES_MAX);
  });
});
