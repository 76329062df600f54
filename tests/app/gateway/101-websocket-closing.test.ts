import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { CAN_COUNT_CONNECTIONS, connectionsOf } from "../../support/connections.ts";
import { type LocalGateway, publicService, startLocalGateway } from "../../support/gateway.ts";
import { waitFor } from "../../support/index.ts";
import { RawClient, type RawSocket, RawUpstream } from "../../support/raw-http.ts";
import { acceptance, clientMessage, handshake, pings } from "../../support/raw-websocket.ts";

/** WebSockets where one side reads nothing and answers nothing. */

const CLIENTS = 8;
/** More bytes than the kernel holds for a connection, so that the rest waits in the gateway. */
const SENT_BYTES = 16_000_000;
const MESSAGE_BYTES = 65_536;
const IDLE_TIMEOUT_MS = 1_500;

let gateway: LocalGateway;
let service: RawUpstream;
let clients: RawClient[] = [];

const accepting = async () => {
  service = new RawUpstream((request, socket) => {
    socket.pause();
    return acceptance(request);
  });
  await gateway.publish({ silent: publicService(service.url, { path: "/silent", methods: ["GET"] }) });
};

beforeAll(async () => {
  gateway = await startLocalGateway({ WEBSOCKET_IDLE_TIMEOUT_MS: String(IDLE_TIMEOUT_MS) });
  await accepting();
});
afterAll(async () => {
  await gateway.close();
  service.close();
});
afterEach(() => {
  for (const client of clients) client.destroy();
  clients = [];
});

const openWebSockets = async () =>
  Number(/^gateway_open_websockets (\d+)$/m.exec(await gateway.metrics())?.[1]);
const toService = () => connectionsOf(process.pid, new Map([[service.port, "service"]])).service ?? 0;

/** Returns a client whose WebSocket is open. */
async function connect(): Promise<RawClient> {
  const client = await RawClient.connect(gateway.url);
  clients.push(client);
  client.send(handshake("/silent"));
  await client.until(() => client.received.includes("\r\n\r\n") || null, "A WebSocket");
  return client;
}

/** Sends until no more bytes are accepted. */
function fill(client: RawClient): void {
  const message = clientMessage(MESSAGE_BYTES);
  client.send(Buffer.concat(Array(Math.ceil(SENT_BYTES / MESSAGE_BYTES)).fill(message)));
}

describe("a service that reads nothing and answers no close", () => {
  test.skipIf(!CAN_COUNT_CONNECTIONS)(
    "loses its connections soon after its clients reset, and they count as open until then",
    async () => {
      await waitFor(() => toService() === 0, { what: "The end of what tests before left" });
      await Promise.all(Array.from({ length: CLIENTS }, async () => fill(await connect())));
      expect(await openWebSockets()).toBe(CLIENTS);
      expect(toService()).toBe(CLIENTS);
      for (const client of clients) client.destroy();
      await waitFor(
        async () => {
          const counted = await openWebSockets();
          // A connection that is open after the count was open during it.
          expect(toService()).toBeLessThanOrEqual(counted);
          return counted === 0;
        },
        { what: "The end of every WebSocket" },
      );
      expect(toService()).toBe(0);
    },
  );

  test.skipIf(!CAN_COUNT_CONNECTIONS)("is cut after both sides were silent", async () => {
    const client = await connect();
    await client.untilClosed(10_000);
    await waitFor(() => toService() === 0, { what: "The end of the connection to the service" });
    expect(await openWebSockets()).toBe(0);
  });
});

// GW-130
describe("the gateway stops reading a side that sends pings and reads no answers:", () => {
  /** Far more bytes than the kernel holds for two connections. */
  const PINGED_BYTES = 64_000_000;
  let patient: LocalGateway;
  beforeAll(async () => {
    patient = await startLocalGateway();
  });
  afterAll(() => patient.close());

  /** Resolves once the gateway has accepted no bytes for a while. */
  const refused = async (side: RawSocket) => {
    for (let before = -1; before !== side.unsent; await Bun.sleep(300)) before = side.unsent;
    expect(side.flushed).toBe(false);
  };
  /** Resolves once the gateway has taken every ping. Each wait is for some more of them. */
  const taken = async (side: RawSocket) => {
    for (let before = side.unsent; !side.flushed; before = side.unsent) {
      await waitFor(() => side.flushed || side.unsent < before, { what: "Pings that are taken" });
    }
  };

  async function open(): Promise<RawClient> {
    await patient.publish({ pinging: publicService(service.url, { path: "/pinging", methods: ["GET"] }) });
    const client = await RawClient.connect(patient.url);
    clients.push(client);
    client.keep = false;
    client.send(handshake("/pinging"));
    await waitFor(() => client.received_bytes > 0, { what: "A WebSocket" });
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
