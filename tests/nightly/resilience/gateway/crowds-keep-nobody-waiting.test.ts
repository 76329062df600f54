/**
 * Tests that many idle, slow or silent clients do not delay others. Each client takes at most a few times the
 * memory that the gateway's README says, and none after it has left. `bun run bench connections` measures the
 * memory.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import { RawClient, spell } from "../../../support/http/raw-http.ts";
import { type RunningProcess, services, waitFor } from "../../../support/index.ts";
import { type CrowdKind, gatherCrowd } from "../../../support/load/crowd.ts";
import { startCrowdService } from "../../../support/load/crowd-process.ts";
import { crowdService } from "../../../support/load/crowd-service.ts";
import { metricOf } from "../../../support/telemetry/metrics.ts";
import { openDescriptors } from "../../bench/measure/descriptors.ts";
import { residentBytes } from "../../bench/measure/machine.ts";

setDefaultTimeout(240_000);

const KIB = 1_024;

/**
 * The kinds of clients, the number of clients of a kind, and the limits of memory and file descriptors for
 * each client. Memory may also grow by `HEAP_STEP_KIB`, because the heap grows in steps.
 */
const crowds: [kind: CrowdKind, count: number, kibMax: number, descriptors: number][] = [
  ["kept_alive", 2_000, 16, 1],
  ["event_stream", 400, 64, 2],
  ["websocket", 400, 64, 2],
  ["slow_writer", 200, 96, 2],
  ["held_body", 200, 256, 1],
  ["slow_reader", 50, 8_192, 2],
];
const HEAP_STEP_KIB = 65_536;

describe.skipIf(!services().etcd.real)("a crowd of clients does not delay others", () => {
  let service: Awaited<ReturnType<typeof startCrowdService>>;
  let gateway: RunningProcess;
  /** The number of the gateway's open file descriptors without a crowd. */
  let descriptorsBefore = 0;

  beforeAll(async () => {
    service = await startCrowdService();
    gateway = await startGateway({
      services: { crowd: crowdService(service.url) },
      env: { LOG_ACCESS_SAMPLE: "0" },
    });
    // The first requests allocate memory that stays in use, so they come before all measurements.
    await (await gatherCrowd(gateway.url, "kept_alive", 300)).leave();
    await isServed();
    descriptorsBefore = openDescriptors(gateway.pid);
  });

  afterAll(async () => {
    expect(await gateway.stop()).toBe(0);
    await service.stop();
  });

  async function isServed(): Promise<void> {
    const client = await RawClient.connect(gateway.url);
    client.send(spell("GET", "/crowd/small"));
    expect((await client.response("GET", 30_000)).status).toBe(200);
    client.destroy();
  }

  /**
   * Waits until the file descriptors of a crowd are closed, except a few of pooled connections to the
   * service.
   */
  const untilFreed = () =>
    waitFor(() => openDescriptors(gateway.pid) <= descriptorsBefore + 50, {
      timeoutMs: 60_000,
      what: "the release of the crowd's file descriptors",
    });

  test.each(crowds)(
    "(%s): %d clients take at most %d KiB and %d file descriptors each",
    async (kind, count, kibMax, each) => {
      const bytes_before = residentBytes(gateway.pid);
      const crowd = await gatherCrowd(gateway.url, kind, count);
      expect(crowd.open).toBe(count);
      for (const status of crowd.statuses.keys()) expect(status).toBeOneOf(["200", "101"]);
      await waitFor(() => openDescriptors(gateway.pid) >= count * each, {
        what: "the connections of all clients",
      });
      expect(openDescriptors(gateway.pid)).toBeLessThan(descriptorsBefore + count * each + 200);
      for (let request = 0; request < 20; request += 1) await isServed();
      const growthKib = (residentBytes(gateway.pid) - bytes_before) / KIB;
      expect(growthKib).toBeLessThan(count * kibMax + HEAP_STEP_KIB);
      await crowd.leave();
      await untilFreed();
      await isServed();
    },
  );

  test("(all kinds at once), and takes no memory or descriptors after it has left", async () => {
    const gathered = await Promise.all(
      crowds.map(([kind, count]) => gatherCrowd(gateway.url, kind, Math.ceil(count / 4))),
    );
    for (let request = 0; request < 20; request += 1) await isServed();
    await Promise.all(gathered.map((crowd) => crowd.leave()));
    await untilFreed();
    await waitFor(async () => (await metricOf(gateway, "gateway_requests_in_flight")) === 0, {
      what: "the end of all requests in flight",
    });
    for (const name of ["gateway_open_upstream_calls", "gateway_open_streams", "gateway_open_websockets"]) {
      expect(await metricOf(gateway, name)).toBe(0);
    }
  });

  test("(ten times the same), and memory does not grow after the first time", async () => {
    const come = async () => {
      const crowd = await gatherCrowd(gateway.url, "event_stream", 200);
      await crowd.leave();
      await untilFreed();
      return residentBytes(gateway.pid);
    };
    const first = await come();
    let last = first;
    for (let time = 1; time < 10; time += 1) last = await come();
    // If the 2 000 streams were not freed, they would take at least 34 MiB, and their buffers more.
    expect(last - first).toBeLessThan(HEAP_STEP_KIB * KIB);
  });

  // GW-122
  test("(without a complete request), and its connections are closed", async () => {
    const silent = await gatherCrowd(gateway.url, "silent", 300);
    const dribbler = await RawClient.connect(gateway.url);
    const head = spell("GET", "/crowd/small", { "X-Padding": "x".repeat(2_000) });
    let sent = 0;
    const dribbling = setInterval(() => dribbler.send(head[sent++] ?? ""), 20);
    for (let request = 0; request < 20; request += 1) await isServed();
    await dribbler.untilClosed(60_000);
    clearInterval(dribbling);
    expect(sent).toBeLessThan(head.length);
    await waitFor(() => silent.open === 0, {
      timeoutMs: 60_000,
      what: "the gateway to close the silent clients",
    });
    await untilFreed();
    await isServed();
  });
});
