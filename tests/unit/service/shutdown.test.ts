import { expect, test } from "bun:test";
import { listenVariables, loadConfig } from "@ostiary/lib/runtime/config";
import { type Service, serve } from "@ostiary/lib/runtime/service";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";
import { waitFor } from "../../support/time/wait-for.ts";

/** Serves ports whose requests wait until they are released by the name of the port. */
async function serveHeld(env: Record<string, string> = {}) {
  const config = loadConfig(Type.Object(listenVariables({ host: "127.0.0.1", port: 0, internal_port: 0 })), {
    LOG_FILE: "/dev/null",
    ...env,
  });
  const telemetry = await createTelemetry({ name: "held", namespace: "tests" }, config);
  const events: string[] = [];
  const held = { public: Promise.withResolvers<void>(), internal: Promise.withResolvers<void>() };
  const holding = (port: keyof typeof held) => ({
    fetch: async () => {
      events.push(`${port} request`);
      await held[port].promise;
      events.push(`${port} response`);
      return new Response("ok");
    },
  });
  const service: Service = {
    name: "held",
    telemetry: { ...telemetry, close: async () => void events.push("telemetry closed") },
    health: { draining: false },
    public: holding("public"),
    internal: holding("internal"),
    start: async () => {},
    drain: () => void events.push("drain"),
    stop: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      events.push("stop");
    },
  };
  const running = await serve(service, config);
  const ports = [running.port, running.internal_port];
  const calls = ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}`)).status);
  await waitFor(() => events.length === 2);
  events.length = 0;
  return { running, events, held, calls };
}

function isOpen(port: number): Promise<boolean> {
  return Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => {} } }).then(
    (socket) => {
      socket.end();
      return true;
    },
    () => false,
  );
}

// OP-30
test("requests in flight get a response, first on the public port, before the service stops", async () => {
  const { running, events, held, calls } = await serveHeld();
  const stopped = running.shutdown();
  await waitFor(async () => !(await isOpen(running.port)));
  expect(events).toEqual(["drain"]);
  expect(await isOpen(running.internal_port)).toBe(true);
  held.public.resolve();
  await waitFor(async () => !(await isOpen(running.internal_port)));
  expect(events).toEqual(["drain", "public response"]);
  held.internal.resolve();
  await stopped;
  expect(await Promise.all(calls)).toEqual([200, 200]);
  expect(events).toEqual(["drain", "public response", "internal response", "stop", "telemetry closed"]);
});

// OP-30
test("a request that never ends is cut off at SHUTDOWN_TIMEOUT_MS", async () => {
  const { running, events, calls } = await serveHeld({ SHUTDOWN_TIMEOUT_MS: "1" });
  const settled = Promise.allSettled(calls);
  await running.shutdown();
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(events).toEqual(["drain", "stop", "telemetry closed"]);
});
