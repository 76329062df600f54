import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import { RawClient, spell } from "../../../support/http/raw-http.ts";
import { type RunningProcess, services, waitFor } from "../../../support/index.ts";
import { type Crowd, type CrowdKind, gatherCrowd } from "../../../support/load/crowd.ts";
import { crowdService, startCrowdService } from "../../../support/load/crowd-service.ts";
import { metricOf } from "../../../support/telemetry/metrics.ts";

const MIB = 1_048_576;

describe.skipIf(!services().etcd.real)("a gateway at one of its limits", () => {
  let service: RunningProcess;
  const ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    service = await startCrowdService();
  });

  afterAll(async () => {
    for (const end of ends) await end();
    await service.kill();
  });

  async function gatewayWith(env: Record<string, string>, descriptorsMax?: number): Promise<RunningProcess> {
    const gateway = await startGateway({
      services: { crowd: crowdService(service.url) },
      env: { LOG_ACCESS_SAMPLE: "0", ...env },
      descriptorsMax,
    });
    ends.push(() => gateway.stop());
    return gateway;
  }

  async function asNewClient({ url }: RunningProcess): Promise<number> {
    const client = await RawClient.connect(url);
    client.send(spell("GET", "/crowd/small"));
    const { status } = await client.response();
    client.destroy();
    return status;
  }

  const told = (gateway: RunningProcess) => gateway.logs().map(({ message }) => String(message));
  const refusedOf = ({ statuses }: Crowd) => statuses.get("503") ?? 0;

  describe("of requests in flight", () => {
    let gateway: RunningProcess;
    // One service may take both places: one freely, and one as its share (GW-233).
    beforeAll(async () => {
      gateway = await gatewayWith({ MAX_REQUESTS_IN_FLIGHT: "2" });
    });

    const kinds: CrowdKind[] = ["event_stream", "slow_reader", "websocket", "slow_writer", "held_body"];
    for (const kind of kinds) {
      // GW-151, GW-152
      test(`serves two clients, refuses the others with 503, and recovers (${kind})`, async () => {
        const crowd = await gatherCrowd(gateway.url, kind, 50);
        await waitFor(() => refusedOf(crowd) === 48, { what: "the refusal of 48 clients" });
        expect(await metricOf(gateway, "gateway_requests_in_flight")).toBe(2);
        const client = await RawClient.connect(gateway.url);
        client.send(spell("GET", "/crowd/small"));
        const refusal = await client.response();
        expect(refusal.status).toBe(503);
        expect(refusal.headers).toContainEqual(["Retry-After", "1"]);
        expect(refusal.headers).toContainEqual(["Connection", "close"]);
        expect(JSON.parse(refusal.body.toString()).error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
        await client.untilClosed();
        await crowd.leave();
        await waitFor(async () => (await asNewClient(gateway)) === 200, {
          what: "a response to a new client",
        });
        expect(await metricOf(gateway, 'gateway_requests_refused_total{cause="requests"}')).toBeGreaterThan(
          48,
        );
      });
    }
  });

  // GW-154
  test("of memory cuts off slow readers, refuses requests with incomplete bodies, and recovers", async () => {
    const bound = 240 * MIB;
    const gateway = await gatewayWith({ MAX_MEMORY_BYTES: String(bound) });
    const memory = () => metricOf(gateway, "process_resident_memory_bytes");
    // Without the limit, each slow reader would take about 2 MiB of the gateway's memory.
    const readers = await gatherCrowd(gateway.url, "slow_reader", 150);
    await waitFor(
      () =>
        told(gateway).includes("load is below every maximum again: the gateway no longer refuses requests"),
      {
        timeoutMs: 60_000,
        what: "the gateway to stop refusing requests",
      },
    );
    // The readers are cut off one by one, so memory can exceed the limit again for a moment.
    await waitFor(async () => (await asNewClient(gateway)) === 200, {
      timeoutMs: 60_000,
      what: "a request being served",
    });
    // Each incomplete body takes 64 KiB, plus memory of the runtime.
    const crowds = [readers];
    for (let thousands = 0; thousands < 8 && refusedOf(crowds.at(-1) ?? readers) === 0; thousands += 1) {
      crowds.push(await gatherCrowd(gateway.url, "held_body", 1_000));
    }
    expect(await memory()).toBeLessThan(bound + 250 * MIB);
    expect(await metricOf(gateway, 'gateway_requests_refused_total{cause="memory"}')).toBeGreaterThan(0);
    await Promise.all(crowds.map((crowd) => crowd.leave()));
    await waitFor(async () => (await asNewClient(gateway)) === 200, {
      timeoutMs: 60_000,
      what: "a response to a new client",
    });
    expect(told(gateway)).toContain(
      "MAX_MEMORY_BYTES is reached: the gateway cuts off slow readers and refuses requests",
    );
  });

  // GW-153
  test("of file descriptors closes idle connections for new ones", async () => {
    const gateway = await gatewayWith({}, 1_000);
    const crowd = await gatherCrowd(gateway.url, "kept_alive", 1_500);
    expect(crowd.statuses).toEqual(new Map([["200", 1_500]]));
    await waitFor(() => crowd.open < 750, { what: "idle connections being closed" });
    expect(await asNewClient(gateway)).toBe(200);
    await crowd.leave();
  });
});
