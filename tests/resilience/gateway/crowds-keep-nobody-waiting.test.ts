import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openDescriptors } from "../../bench/measure/descriptors.ts";
import { residentBytes } from "../../bench/measure/machine.ts";
import { type CrowdKind, gatherCrowd } from "../../support/crowd.ts";
import { startCrowdService } from "../../support/crowd-process.ts";
import { crowdService } from "../../support/crowd-service.ts";
import { startGateway } from "../../support/gateway-process.ts";
import { type RunningProcess, services, waitFor } from "../../support/index.ts";
import { RawClient, spell } from "../../support/raw-http.ts";

setDefaultTimeout(240_000);

/**
 * Many clients that idle, read slowly, write slowly or send nothing. Others are served at the same time. Each
 * client costs what the gateway's README says, or a few times that, and nothing stays when they leave. `bun
 * run bench connections` has the figures.
 */

const KIB = 1_024;

/** The number of each kind and the cost limit of each client, beside a heap that grows in steps. */
const crowds: [kind: CrowdKind, count: number, kib_max: number, descriptors: number][] = [
  ["kept_alive", 2_000, 16, 1],
  ["event_stream", 400, 64, 2],
  ["websocket", 400, 64, 2],
  ["slow_writer", 200, 96, 2],
  ["held_body", 200, 256, 1],
  ["slow_reader", 50, 8_192, 2],
];
const HEAP_STEP_KIB = 65_536;

describe.skipIf(!services().etcd.real)("others are served while", () => {
  let service: Awaited<ReturnType<typeof startCrowdService>>;
  let gateway: RunningProcess;
  /** The open descriptors with only the regular client. */
  let descriptors_before = 0;

  beforeAll(async () => {
    service = await startCrowdService();
    gateway = await startGateway({
      services: { crowd: crowdService(service.url) },
      env: { LOG_ACCESS_SAMPLE: "0" },
    });
    // Allocate what the first requests need before anything is compared.
    await (await gatherCrowd(gateway.url, "kept_alive", 300)).leave();
    await isServed();
    descriptors_before = openDescriptors(gateway.pid);
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

  /** Only pooled connections to the service may stay, which are few. */
  const untilFreed = () =>
    waitFor(() => openDescriptors(gateway.pid) <= descriptors_before + 50, {
      timeout_ms: 60_000,
      what: "The descriptors of a crowd being free",
    });

  test.each(crowds)(
    "%s: %d stay, at most %d KiB and %d descriptors each",
    async (kind, count, kib_max, each) => {
      const bytes_before = residentBytes(gateway.pid);
      const crowd = await gatherCrowd(gateway.url, kind, count);
      expect(crowd.open).toBe(count);
      for (const status of crowd.statuses.keys()) expect(status).toBeOneOf(["200", "101"]);
      await waitFor(() => openDescriptors(gateway.pid) >= count * each, { what: "All being there" });
      expect(openDescriptors(gateway.pid)).toBeLessThan(descriptors_before + count * each + 200);
      for (let request = 0; request < 20; request += 1) await isServed();
      const growth_kib = (residentBytes(gateway.pid) - bytes_before) / KIB;
      expect(growth_kib).toBeLessThan(count * kib_max + HEAP_STEP_KIB);
      await crowd.leave();
      await untilFreed();
      await isServed();
    },
  );

  test("all of them at once stay, and leave nothing in use", async () => {
    const gathered = await Promise.all(
      crowds.map(([kind, count]) => gatherCrowd(gateway.url, kind, Math.ceil(count / 4))),
    );
    for (let request = 0; request < 20; request += 1) await isServed();
    await Promise.all(gathered.map((crowd) => crowd.leave()));
    await untilFreed();
    const metrics = async () => (await fetch(`${gateway.internal_url}/metrics`)).text();
    await waitFor(async () => /^gateway_requests_in_flight 0$/m.test(await metrics()), {
      what: "Nothing being under way",
    });
    for (const name of ["gateway_open_upstream_calls", "gateway_open_streams", "gateway_open_websockets"]) {
      expect(await metrics()).toContain(`${name} 0\n`);
    }
  });

  test("the same crowd comes ten times: memory stays where it was after the first", async () => {
    const come = async () => {
      const crowd = await gatherCrowd(gateway.url, "event_stream", 200);
      await crowd.leave();
      await untilFreed();
      return residentBytes(gateway.pid);
    };
    const first = await come();
    let last = first;
    for (let time = 1; time < 10; time += 1) last = await come();
    // Two thousand kept streams would be at least 34 MiB, and their buffers more.
    expect(last - first).toBeLessThan(HEAP_STEP_KIB * KIB);
  });

  test("clients that send nothing, or a head byte by byte, are closed, and others are not", async () => {
    const silent = await gatherCrowd(gateway.url, "silent", 300);
    const dribbler = await RawClient.connect(gateway.url);
    const head = spell("GET", "/crowd/small", { "X-Padding": "x".repeat(2_000) });
    let sent = 0;
    const dribbling = setInterval(() => dribbler.send(head[sent++] ?? ""), 20);
    for (let request = 0; request < 20; request += 1) await isServed();
    await dribbler.untilClosed(60_000);
    clearInterval(dribbling);
    expect(sent).toBeLessThan(head.length);
    await waitFor(() => silent.open === 0, { timeout_ms: 60_000, what: "Silent clients being closed" });
    await untilFreed();
    await isServed();
  });
});
