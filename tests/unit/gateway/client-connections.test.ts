import { expect, test } from "bun:test";
import { ClientConnections } from "../../../apps/gateway/edge/client-connections.ts";

// GW-196
test.each([
  ["75 s for the next head after a complete body", 75_000, true, 75],
  ["30 s for the rest of a body and the next head", 75_000, false, 30],
  ["10 s for both when that is the time for a head", 10_000, false, 10],
])("a client has %s", (_, idleTimeoutMs, bodyComplete, seconds) => {
  const timeouts: number[] = [];
  const connections = new ClientConnections({ idleTimeoutMs, bodyTimeoutMs: 30_000 }, { draining: false });
  const server = { timeout: (_request: Request, after: number) => timeouts.push(after) };
  connections.release({ server, request: new Request("http://gateway/"), bodyComplete });
  expect(timeouts).toEqual([seconds]);
});
