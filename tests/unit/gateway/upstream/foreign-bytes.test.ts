/**
 * Tests that bytes outside a response never become the response to another request, whenever they arrive
 * (GW-126).
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "@ostiary/lib/async";
import { ConnectionCounts } from "../../../../apps/gateway/upstream/connection-counts.ts";
import { PoolClient } from "../../../../apps/gateway/upstream/pool-client.ts";
import { begin, call, POOL_OPTIONS } from "../../../app/gateway/upstream/client-bed.ts";
import { OK, type RawSocket, RawUpstream } from "../../../support/http/raw-http.ts";
import { rejection, waitFor } from "../../../support/index.ts";

const FOREIGN = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforgot";

let service: RawUpstream;
let client: PoolClient;

beforeEach(() => {
  service = new RawUpstream(() => OK);
  client = new PoolClient(POOL_OPTIONS, new ConnectionCounts(null), systemClock);
});
afterEach(() => {
  client.closeIdle();
  service.close();
});

function lastSocket(): RawSocket {
  const socket = service.sockets.at(-1);
  if (socket === undefined) throw new Error("No connection.");
  return socket;
}

/** When a service sends the bytes that belong to no response. */
const ARRIVALS: [when: string, send: (socket: RawSocket, response: string) => void | Promise<void>][] = [
  ["in the same chunk", (socket, response) => socket.send(response + FOREIGN)],
  [
    "in the next chunk",
    (socket, response) => {
      socket.send(response);
      socket.send(FOREIGN);
    },
  ],
  [
    "a few milliseconds later",
    async (socket, response) => {
      socket.send(response);
      await Bun.sleep(3);
      socket.send(FOREIGN);
    },
  ],
];

/** Responses that have no body, although some announce one. */
const BODILESS: [what: string, method: string, response: string][] = [
  ["a response to HEAD", "HEAD", `HTTP/1.1 200 OK\r\nContent-Length: ${FOREIGN.length}\r\n\r\n`],
  ["a response to HEAD without a length", "HEAD", "HTTP/1.1 200 OK\r\n\r\n"],
  ["a 204 with a length", "GET", `HTTP/1.1 204 No Content\r\nContent-Length: ${FOREIGN.length}\r\n\r\n`],
  ["a 304", "GET", `HTTP/1.1 304 Not Modified\r\nContent-Length: ${FOREIGN.length}\r\n\r\n`],
];

const crossed = BODILESS.flatMap(([what, method, response]) =>
  ARRIVALS.map(([when, send]) => [what, when, method, response, send] as const),
);

// GW-126, GW-210
test.each(crossed)(
  "a body after %s, %s, reaches none of many other requests",
  async (_, __, method, response, send) => {
    service.handler = (request, socket) => {
      if (request.target !== "/bodiless") return OK;
      void send(socket, response);
      return null;
    };
    const other = async (nth: number) => {
      if (nth % 2 === 0) await call(client, service, { method, path: "/bodiless" }).catch(() => {});
      return (await call(client, service, { method: "POST" })).text;
    };
    for (let round = 0; round < 4; round++) {
      const texts = await Promise.all(Array.from({ length: 30 }, (_, nth) => other(nth)));
      expect(new Set(texts)).toEqual(new Set(["ok"]));
    }
  },
);

describe("before a request is written, its connection is closed and another one carries it when the service", () => {
  // GW-126
  test.each(["GET", "POST"])("sends bytes just before a %s", async (method) => {
    await call(client, service);
    lastSocket().send(FOREIGN);
    expect((await call(client, service, { method })).text).toBe("ok");
    expect(service.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  // GW-124
  test.each<[how: string, close: (socket: RawSocket) => void]>([
    ["ends", (socket) => socket.end()],
    ["resets", (socket) => socket.destroy()],
  ])("%s the connection just before a POST", async (_, close) => {
    await call(client, service);
    close(lastSocket());
    expect((await call(client, service, { method: "POST" })).text).toBe("ok");
    expect(service.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });
});

// GW-126
test("bytes that a service sends before the first request of a connection are not its response", async () => {
  const early = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: (socket) => void socket.write(FOREIGN), data() {} },
  });
  expect(await rejection(call(client, early))).toMatchObject({ name: "MalformedResponse" });
  early.stop(true);
});

// GW-124
test("a request whose connection is lost before it is written can be canceled", async () => {
  await call(client, service);
  const { response, abort } = begin(client, service);
  abort();
  expect(await rejection(response)).toMatchObject({ code: "ECONNABORTED" });
  await waitFor(() => service.open === 0);
  expect(service.requests).toHaveLength(1);
});
