/** Tests WebSockets in which one side does not read, does not respond or is silent for ever. */
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { useGateway } from "../../../app/gateway/bed.ts";
import { publicService } from "../../../support/gateway/gateway.ts";
import { acceptance, clientMessage, handshake, pings } from "../../../support/gateway/raw-websocket.ts";
import { CAN_COUNT_CONNECTIONS, connectionsOf } from "../../../support/http/connections.ts";
import { RawClient, type RawSocket, RawUpstream } from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/index.ts";

const CLIENTS = 8;
/** More bytes than the kernel buffers for a connection, so that the gateway has to buffer the rest. */
const SENT_BYTES = 16_000_000;
const MESSAGE_BYTES = 65_536;
const IDLE_TIMEOUT_MS = 1_500;
/** The limits of the buffer to a WebSocket's peer. */
const QUEUED_BYTES = 262_144;
const READ_BYTES = 524_288;

const service = new RawUpstream((request, socket) => {
  socket.pause();
  return acceptance(request);
});
const gateway = useGateway({ WEBSOCKET_IDLE_TIMEOUT_MS: String(IDLE_TIMEOUT_MS) }, () => ({
  silent: publicService(service.url, { path: "/silent", methods: ["GET"] }),
}));
let clients: RawClient[] = [];

afterAll(() => service.close());
afterEach(() => {
  for (const client of clients) client.destroy();
  clients = [];
});

const openWebSockets = async () =>
  Number(/^gateway_open_websockets (\d+)$/m.exec(await gateway.metrics())?.[1]);
const toService = () => connectionsOf(process.pid, new Map([[service.port, "service"]])).service ?? 0;

/** Opens a WebSocket, by default to the silent service, and returns its client. */
async function connect(path = "/silent"): Promise<RawClient> {
  const client = await RawClient.connect(gateway.url);
  clients.push(client);
  client.send(handshake(path));
  await client.until(() => client.received.includes("\r\n\r\n") || null, "A WebSocket");
  return client;
}

/** Sends messages with more bytes than all buffers between the client and the service hold. */
function fill(client: RawClient): void {
  const message = clientMessage(MESSAGE_BYTES);
  client.send(Buffer.concat(Array(Math.ceil(SENT_BYTES / MESSAGE_BYTES)).fill(message)));
}

describe("a service that does not read and does not respond to a close", () => {
  test.skipIf(!CAN_COUNT_CONNECTIONS)(
    "loses its connections soon after its clients reset theirs, and the gauge counts them until then",
    async () => {
      await waitFor(() => toService() === 0, { what: "the end of connections from earlier tests" });
      await Promise.all(Array.from({ length: CLIENTS }, async () => fill(await connect())));
      expect(await openWebSockets()).toBe(CLIENTS);
      await waitFor(() => toService() === CLIENTS, { what: "the table to have every connection" });
      for (const client of clients) client.destroy();
      await waitFor(
        async () => {
          const counted = await openWebSockets();
          // No new connections are made, so each one that is open now was also open when the gauge was read.
          expect(toService()).toBeLessThanOrEqual(counted);
          return counted === 0;
        },
        { what: "every WebSocket closing" },
      );
      await waitFor(() => toService() === 0, { what: "the end of every connection" });
    },
  );

  // GW-130
  test("is sent no more than one read of what a client had sent before its reset", async () => {
    const send = WebSocket.prototype.send;
    let peakBytes = 0;
    const spy = spyOn(WebSocket.prototype, "send").mockImplementation(function (this: WebSocket, message) {
      send.call(this, message);
      peakBytes = Math.max(peakBytes, this.bufferedAmount);
    });
    const client = await connect();
    fill(client);
    for (let before = -1; before !== client.unsent; await Bun.sleep(100)) before = client.unsent;
    expect(client.flushed).toBe(false);
    client.destroy();
    await waitFor(async () => (await openWebSockets()) === 0);
    spy.mockRestore();
    expect(peakBytes).toBeGreaterThan(QUEUED_BYTES);
    expect(peakBytes).toBeLessThan(QUEUED_BYTES + READ_BYTES + 3 * MESSAGE_BYTES);
  });

  test.skipIf(!CAN_COUNT_CONNECTIONS)("is disconnected after both sides were silent", async () => {
    const client = await connect();
    await client.untilClosed(10_000);
    await waitFor(() => toService() === 0, { what: "the end of the connection to the service" });
    expect(await openWebSockets()).toBe(0);
  });
});

// GW-130
describe("the gateway stops reading from a side that sends pings and reads no pongs:", () => {
  /** Far more bytes than the kernel buffers for two connections. */
  const PINGED_BYTES = 32_000_000;
  const patient = useGateway();

  /** Waits until the gateway has read no bytes from `side` for 300 ms. Expects that some pings are unsent. */
  const refused = async (side: RawSocket) => {
    for (let before = -1; before !== side.unsent; await Bun.sleep(300)) before = side.unsent;
    expect(side.flushed).toBe(false);
  };
  /** Waits until the gateway has read every ping. The timeout restarts whenever the gateway reads more. */
  const taken = async (side: RawSocket) => {
    for (let before = side.unsent; !side.flushed; before = side.unsent) {
      await waitFor(() => side.flushed || side.unsent < before, { what: "the gateway to read more pings" });
    }
  };

  async function open(): Promise<RawClient> {
    await patient.publish({ pinging: publicService(service.url, { path: "/pinging", methods: ["GET"] }) });
    const client = await RawClient.connect(patient.url);
    clients.push(client);
    client.keep = false;
    client.send(handshake("/pinging"));
    await waitFor(() => client.receivedBytes > 0, { what: "a WebSocket" });
    return client;
  }

  test("a client", async () => {
    const client = await open();
    client.pause();
    client.send(pings(PINGED_BYTES, "client"));
    await refused(client);
    client.resume();
    await taken(client);
  });

  test("a service", async () => {
    await open();
    const socket = service.sockets.at(-1);
    if (socket === undefined) throw new Error("No service was called.");
    socket.keep = false;
    socket.onData = () => {};
    socket.send(pings(PINGED_BYTES, "service"));
    await refused(socket);
    socket.resume();
    await taken(socket);
  });
});

// GW-213
describe("while the other one sends", () => {
  const TEXT = Buffer.from([0x81, 1, 0x78]);
  const responding = new RawUpstream((request) => acceptance(request));
  let feeding: ReturnType<typeof setInterval>;
  beforeAll(() =>
    gateway.publish({ rooms: publicService(responding.url, { path: "/room", methods: ["GET"] }) }),
  );
  afterAll(() => responding.close());
  afterEach(() => clearInterval(feeding));

  const serviceEnd = (): RawSocket => {
    const socket = responding.sockets.at(-1);
    if (socket === undefined) throw new Error("No service was called.");
    return socket;
  };

  test.each(["client", "service"])("a silent %s loses its WebSocket and its place", async (silent) => {
    const client = await connect("/room");
    const socket = serviceEnd();
    for (const end of [client, socket]) end.keep = false;
    socket.onData = () => {};
    const speak = silent === "client" ? () => socket.send(TEXT) : () => client.send(pings(1, "client"));
    feeding = setInterval(speak, IDLE_TIMEOUT_MS / 10);
    await client.untilClosed();
    await waitFor(() => socket.closed);
    await waitFor(async () => (await openWebSockets()) === 0);
  });

  test("a client that sends nothing and responds to pings keeps its WebSocket", async () => {
    const received: unknown[] = [];
    const live = new WebSocket(`${gateway.url.replace("http", "ws")}/room`);
    live.addEventListener("message", ({ data }) => received.push(data));
    await waitFor(() => live.readyState === WebSocket.OPEN);
    feeding = setInterval(() => serviceEnd().send(TEXT), IDLE_TIMEOUT_MS / 10);
    await waitFor(() => received.length > 25);
    expect(live.readyState).toBe(WebSocket.OPEN);
    live.close();
  });
});
