/** Tests that bodies of a gigabyte, and clients that stop reading, take bounded memory of the gateway's process. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { publicService } from "../../../support/gateway/gateway.ts";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import { OK_CLOSE, pump, RawClient, RawUpstream, spell } from "../../../support/http/raw-http.ts";
import { type RunningProcess, settled, waitFor } from "../../../support/index.ts";
import { metricOf } from "../../../support/telemetry/metrics.ts";

const MIB = 1_048_576;
const BYTES = 1_024 * MIB;
/**
 * The maximum growth that remains during the last third of a transfer. A gateway that buffered whole bodies would
 * hold at least two thirds of `BYTES`. Chunks that wait for garbage collection take 50 to 290 MiB.
 */
const KEPT_BYTES_MAX = BYTES / 4;
/** The maximum growth for each client that stops reading. About 2 MiB are buffered for it. */
const READER_BYTES_MAX = 8 * MIB;
const READERS = 100;
const CHUNK = Buffer.alloc(65_536, "x");

// GW-111
describe("a gateway", () => {
  const service = new RawUpstream(
    ({ method }, socket) => {
      if (method === "POST") {
        const early = socket.received.length;
        socket.keep = false;
        socket.receivedBytes = 0;
        socket.onData = () => {
          if (early + socket.receivedBytes >= BYTES) socket.send(OK_CLOSE);
        };
        return null;
      }
      socket.send(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${BYTES}\r\n\r\n`);
      pump(socket, CHUNK, BYTES / CHUNK.length);
      return null;
    },
    { atHead: true },
  );
  let gateway: RunningProcess;
  beforeAll(async () => {
    const things = publicService(service.url, { path: "/things", methods: ["GET", "POST"] });
    gateway = await startGateway({ services: { things }, env: { MAX_BODY_BYTES: "0" } });
  });
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0);
    service.close();
  });

  /** Runs `work`, and returns samples of how much the gateway's memory has grown. */
  async function growthDuring(work: () => Promise<unknown>): Promise<number[]> {
    const resident = () => metricOf(gateway, "process_resident_memory_bytes");
    const before = await resident();
    const growth: number[] = [];
    let isWorking = true;
    const done = work().finally(() => {
      isWorking = false;
    });
    for (; isWorking; await Bun.sleep(20)) growth.push((await resident()) - before);
    await done;
    return growth;
  }
  const keptOf = (growth: number[]) => Math.min(...growth.slice(-Math.ceil(growth.length / 3)));

  test("keeps no download", async () => {
    const growth = await growthDuring(async () => {
      const response = await fetch(`${gateway.url}/things`);
      for await (const _ of response.body ?? []);
    });
    expect(keptOf(growth)).toBeLessThan(KEPT_BYTES_MAX);
  });

  test("keeps no upload", async () => {
    const growth = await growthDuring(async () => {
      const client = await RawClient.connect(gateway.url);
      client.send(`POST /things HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: ${BYTES}\r\n\r\n`);
      pump(client, CHUNK, BYTES / CHUNK.length);
      await client.response("POST", 120_000);
      client.destroy();
    });
    expect(keptOf(growth)).toBeLessThan(KEPT_BYTES_MAX);
  });

  test("keeps little for clients that stop reading", async () => {
    const clients: RawClient[] = [];
    const growth = await growthDuring(async () => {
      for (let count = 0; count < READERS; count++) {
        const client = await RawClient.connect(gateway.url);
        clients.push(client);
        client.keep = false;
        client.onData = () => client.pause();
        client.send(spell("GET", "/things"));
      }
      await waitFor(() => clients.every((client) => client.receivedBytes > 0), { timeoutMs: 60_000 });
      await settled(() => clients.reduce((sum, client) => sum + client.receivedBytes, 0));
    });
    expect(Math.max(...growth)).toBeLessThan(READERS * READER_BYTES_MAX);
    for (const client of clients) client.destroy();
  });
});
