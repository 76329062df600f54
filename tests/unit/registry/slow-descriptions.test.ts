/** Tests that slow services do not hold up the descriptions of other services (RG-94). */
import { expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { ServiceDescriptions } from "../../../apps/registry/edge-description/service-descriptions.ts";
import { startSilentServer } from "../../support/http/silent-server.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { waitFor } from "../../support/time/wait-for.ts";

const SILENT = 24;
const AT_ONCE = 8;
const LOG = { debug() {}, info() {}, warn() {}, error() {} };

/** A server that describes a service, with `respond` for each request. */
function describing(respond: () => Promise<void> = async () => {}) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch() {
      await respond();
      return Response.json({ openapi: "3.1.0", info: {}, paths: {} });
    },
  });
}

// RG-94
test("a description is read while many services that never respond are called", async () => {
  const silent = await startSilentServer();
  await using quick = describing();
  const config = (url: string): StoredServiceConfig => ({ url, openapi: "/openapi.json" });
  const services = new Map<string, StoredServiceConfig>();
  for (let index = 0; index < SILENT; index++) services.set(`a${index}`, config(silent.url));
  services.set("quick", config(quick.url.origin));
  const clock = manualClock();
  const descriptions = new ServiceDescriptions({ clock, log: LOG, refreshMs: 3_600_000 });
  descriptions.refresh({ services, incarnationOf: () => 1 });
  for (let called = AT_ONCE; called <= SILENT; called += AT_ONCE) {
    await waitFor(() => clock.waiting().filter((ms) => ms === 1_000).length === AT_ONCE);
    expect(descriptions.states.get("quick")?.status).toBe("missing");
    clock.advance(1_000);
  }
  await waitFor(() => descriptions.states.get("quick")?.status === "current");
  expect(descriptions.states.get("a0")?.failure).toBeNull();
  // a service that never responds fails after its time as a slow service
  clock.advance(10_000);
  await waitFor(() => descriptions.states.get("a0")?.failure !== null);
  expect(descriptions.states.get("a0")?.failure).toContain("longer than 10 s");
  await descriptions.stop();
  await silent.close();
});

// RG-94
test("a description that takes more than a second is read, and again", async () => {
  const clock = manualClock();
  let open = Promise.withResolvers<void>();
  let calls = 0;
  await using slow = describing(() => {
    calls++;
    return open.promise;
  });
  const services = new Map([["slow", { url: slow.url.origin, openapi: "/openapi.json" }]]);
  const descriptions = new ServiceDescriptions({ clock, log: LOG, refreshMs: 60_000 });
  const refresh = () => descriptions.refresh({ services, incarnationOf: () => 1 });
  const state = () => descriptions.states.get("slow");
  refresh();
  await waitFor(() => calls === 1);
  clock.advance(1_000);
  await waitFor(() => calls === 2);
  clock.advance(5_000);
  open.resolve();
  await waitFor(() => state()?.status === "current");
  const first = state()?.read_at;
  // the next call has the longer time from the start
  open = Promise.withResolvers();
  clock.advance(60_000);
  refresh();
  await waitFor(() => calls === 3);
  clock.advance(5_000);
  open.resolve();
  await waitFor(() => state()?.read_at !== first);
  expect(calls).toBe(3);
  expect(state()?.failure).toBeNull();
  await descriptions.stop();
});
