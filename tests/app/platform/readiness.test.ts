/** Tests when the start screen appears, with a registry and a gateway's readiness check. */
import { afterAll, describe, expect, test } from "bun:test";
import { INSTANCES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { untilReady } from "../../../apps/platform/readiness.ts";
import { startLoadingGateway } from "../../support/gateway/loading-gateway.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { ADMIN_TOKEN, service, useRegistry } from "../registry/bed.ts";

const registry = useRegistry();
let status = 200;
const probe = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("", { status }) });
afterAll(() => probe.stop(true));

/** Starts to wait for a gateway. `said` collects the messages; `next` lets the next check happen. */
function waiting(instance: string) {
  const clock = manualClock();
  const said: string[] = [];
  let isOver = false;
  const over = untilReady(
    { instance, internal_port: probe.port ?? 0 },
    {
      host: "127.0.0.1",
      access: { registryUrl: registry.url, adminToken: ADMIN_TOKEN, program: "bun cli" },
      onProgress: (step) => said.push(step),
    },
    clock,
  ).then(() => {
    isOver = true;
  });
  const next = async (ms = 50) => {
    await waitFor(() => clock.waiting().length > 0, { what: "the pause between two checks" });
    clock.advance(ms);
  };
  const end = () =>
    waitFor(
      () => {
        clock.advance(50);
        return isOver;
      },
      { what: "the end of the wait" },
    );
  return { said, over, next, end, isOver: () => isOver };
}

// OP-97
describe("the start screen appears", () => {
  test("once the gateway is ready and serves all services, and not before", async () => {
    const gateway = await startLoadingGateway(registry.routeStore);
    gateway.holdUp();
    await registry.apply({ held: service("/held") });
    const isBehind = async () => !(await registry.call("GET", "/gateways")).body.gateways[0].current;
    await waitFor(isBehind, { what: "the gateway to be behind" });
    status = 503;
    const start = waiting(gateway.id);
    await start.next();
    status = 200;
    await start.next();
    await start.next();
    expect(start.isOver()).toBe(false);
    const entry = JSON.parse((await registry.routeStore.get(INSTANCES_PREFIX + gateway.id))?.value ?? "{}");
    // A gateway that skips a broken service serves everything that it can.
    const skipped = [{ service: "held", reason: "broken" }];
    await registry.routeStore.put(INSTANCES_PREFIX + gateway.id, JSON.stringify({ ...entry, skipped }));
    await start.end();
    expect(start.said).toEqual([]);
    await gateway.stop();
  });

  test.each([
    [200, /^The gateway does not serve all published services yet: http:\S+\/gateways says what it serves$/],
    [503, /^The gateway is not ready: http:\S+\/health\/ready says why$/],
  ])("after ten seconds with the readiness %d, and names the URL that says why", async (ready, message) => {
    status = ready;
    const start = waiting("unknown");
    await start.next();
    await start.next(10_000);
    await start.over;
    expect(start.said).toEqual([expect.stringMatching(message)]);
  });
});
