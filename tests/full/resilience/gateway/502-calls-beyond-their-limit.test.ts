import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import { type RunningProcess, services, waitFor } from "../../../support/index.ts";
import { gatherCrowd } from "../../../support/load/crowd.ts";
import { startCrowdService } from "../../../support/load/crowd-process.ts";
import { crowdService } from "../../../support/load/crowd-service.ts";

setDefaultTimeout(120_000);

describe.skipIf(!services().etcd.real)("with MAX_UPSTREAM_REQUESTS calls in flight", () => {
  let service: Awaited<ReturnType<typeof startCrowdService>>;
  let gateway: RunningProcess;

  beforeAll(async () => {
    service = await startCrowdService();
    gateway = await startGateway({
      services: { crowd: crowdService(service.url) },
      env: { MAX_UPSTREAM_REQUESTS: "3", UPSTREAM_TIMEOUT_MS: "1000" },
    });
  });

  afterAll(async () => {
    expect(await gateway.stop()).toBe(0);
    await service.stop();
  });

  const status = async () => (await fetch(`${gateway.url}/crowd/small`)).status;

  // GW-125
  test("the next call is a 502 after the service timeout, and succeeds after another call has ended", async () => {
    expect(await status()).toBe(200);
    const streams = await gatherCrowd(gateway.url, "event_stream", 3);
    expect(streams.statuses).toEqual(new Map([["200", 3]]));
    expect(await status()).toBe(502);
    await streams.leave();
    await waitFor(async () => (await status()) === 200, { what: "a free call" });
  });
});
