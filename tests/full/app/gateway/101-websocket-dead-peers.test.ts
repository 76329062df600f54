/** Tests that the gateway notices a WebSocket peer that is silent for ever, although the other one goes on. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type LocalGateway, publicService, startLocalGateway } from "../../../support/gateway/gateway.ts";
import { acceptance, handshake, pings } from "../../../support/gateway/raw-websocket.ts";
import { RawClient, RawUpstream } from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/index.ts";

const IDLE_TIMEOUT_MS = 1_000;
const TEXT = Buffer.from([0x81, 1, 0x78]);

let gateway: LocalGateway;
const service = new RawUpstream((request) => acceptance(request));
let client: RawClient;
let feeding: ReturnType<typeof setInterval>;

beforeAll(async () => {
  gateway = await startLocalGateway({ WEBSOCKET_IDLE_TIMEOUT_MS: String(IDLE_TIMEOUT_MS) });
  await gateway.publish({ rooms: publicService(service.url, { path: "/room", methods: ["GET"] }) });
});
afterAll(async () => {
  await gateway.close();
  service.close();
});
afterEach(() => {
  clearInterval(feeding);
  client.destroy();
});

const open = async () => Number(/^gateway_open_websockets (\d+)$/m.exec(await gateway.metrics())?.[1]);

/** Opens a WebSocket whose raw ends answer nothing. */
async function connect() {
  client = await RawClient.connect(gateway.url);
  client.send(handshake("/room"));
  await client.until(() => client.received.includes("\r\n\r\n") || null, "A WebSocket");
  const socket = service.sockets.at(-1);
  if (socket === undefined) throw new Error("No service was called.");
  socket.keep = false;
  socket.onData = () => {};
  client.keep = false;
  return socket;
}

// GW-213
describe("a silent peer loses its WebSocket and its place while the other one sends", () => {
  test("the client", async () => {
    const socket = await connect();
    feeding = setInterval(() => socket.send(TEXT), IDLE_TIMEOUT_MS / 10);
    await client.untilClosed();
    await waitFor(() => socket.closed);
    await waitFor(async () => (await open()) === 0);
  });

  test("the service", async () => {
    const socket = await connect();
    feeding = setInterval(() => client.send(pings(1, "client")), IDLE_TIMEOUT_MS / 10);
    await client.untilClosed();
    await waitFor(() => socket.closed);
    await waitFor(async () => (await open()) === 0);
  });
});

// GW-213
test("a client that sends nothing and answers pings keeps its WebSocket", async () => {
  const received: unknown[] = [];
  const live = new WebSocket(`${gateway.url.replace("http", "ws")}/room`);
  live.addEventListener("message", ({ data }) => received.push(data));
  await waitFor(() => live.readyState === WebSocket.OPEN);
  const socket = service.sockets.at(-1);
  // The service's end reads what the gateway sends, and a pong of the service is a sign of life.
  feeding = setInterval(() => socket?.send(TEXT), IDLE_TIMEOUT_MS / 10);
  await waitFor(() => received.length > 25);
  expect(live.readyState).toBe(WebSocket.OPEN);
  live.close();
  client = await RawClient.connect(gateway.url);
});
