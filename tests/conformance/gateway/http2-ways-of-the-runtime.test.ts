/**
 * Tests that reproduce the limitations of the runtime's HTTP/2. The gateway's README describes each one. If a
 * test fails with a new version of the runtime, the limitation may be gone: update the README.
 */

import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { Http2Client } from "../../support/http2-client.ts";
import { rawRequest, spell } from "../../support/raw-http.ts";
import {
  dataFrames,
  ErrorCode,
  FrameType,
  headersFrames,
  RawHttp2Client,
  requestFields,
} from "../../support/raw-http2.ts";

let handler: (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response> = () =>
  new Response("ok");
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  http2: true,
  idleTimeout: 0,
  fetch: (request, self) => handler(request, self),
});
const url = `http://127.0.0.1:${server.port}`;

afterAll(() => server.stop(true));
afterEach(() => {
  handler = () => new Response("ok");
});

/** Returns all properties of an object, including inherited ones. The value of a function is "function". */
function readable(object: object): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (let level: object | null = object; level !== null && level !== Object.prototype; ) {
    for (const key of Reflect.ownKeys(level)) {
      const value: unknown = Reflect.get(object, key);
      values[String(key)] = typeof value === "function" ? "function" : value;
    }
    level = Reflect.getPrototypeOf(level);
  }
  return values;
}

test("a handler cannot tell which protocol version a request uses", async () => {
  const seen: Record<string, unknown>[] = [];
  handler = (request, self) => {
    const { headers, signal, ...told } = readable(request);
    const { family, address } = self.requestIP(request) ?? {};
    seen.push({ ...told, headers: [...request.headers], family, address });
    return new Response("ok");
  };
  const client = await RawHttp2Client.connect(url);
  await client.request(1, { path: "/a" });
  client.destroy();
  await rawRequest(url, spell("GET", "/a", { host: "gateway.test" }));
  expect(seen.length).toBe(2);
  expect(seen[0]).toEqual(seen[1] ?? {});
});

test("Connection: close in a response does not close the connection", async () => {
  handler = () => new Response("ok", { headers: { Connection: "close" } });
  const client = await RawHttp2Client.connect(url);
  for (const stream of [1, 3]) expect((await client.request(stream)).status).toBe(200);
  await client.synced();
  expect([client.closed, client.goAway]).toEqual([false, null]);
  client.destroy();
});

test("a response to HEAD without a length gets Content-Length 0", async () => {
  handler = () => new Response(null, { headers: { "Transfer-Encoding": "chunked" } });
  const client = new Http2Client(url);
  const { headers } = await client.ask("/", { ":method": "HEAD" });
  expect(headers["content-length"]).toBe("0");
  client.close();
});

test("the body of a GET, or of a request with Content-Length 0, is dropped and its length is not checked", async () => {
  const bodies: unknown[] = [];
  handler = ({ body }) => {
    bodies.push(body);
    return new Response("ok");
  };
  for (const [method, length] of [
    ["POST", "0"],
    ["GET", "9"],
  ] as const) {
    const client = await RawHttp2Client.connect(url);
    client.send(headersFrames(1, requestFields({ method, fields: [["content-length", length]] }), 0));
    await client.until(() => client.ofType(FrameType.headers, 1)[0] ?? null, "The head of the response");
    client.send(dataFrames(1, "abc", true));
    await client.end(1);
    client.destroy();
  }
  expect(bodies).toEqual([null, null]);
});

test("a connection with only PING frames counts as idle", async () => {
  const pinging = await RawHttp2Client.connect(url);
  const waiting = await RawHttp2Client.connect(url);
  const { promise, resolve } = Promise.withResolvers<Response>();
  handler = () => promise;
  waiting.send(headersFrames(1, requestFields()));
  await Promise.all([pinging.synced(), waiting.synced()]);
  server.closeIdleConnections();
  await pinging.untilClosed();
  resolve(new Response("ok"));
  expect(await waiting.end(1)).toMatchObject({ status: 200, complete: true });
  waiting.destroy();
});

describe("the runtime does not offer", () => {
  const ENABLE_CONNECT_PROTOCOL = 8;

  test("a WebSocket over HTTP/2", async () => {
    const client = await RawHttp2Client.connect(url);
    await client.synced();
    const settings = client.ofType(FrameType.settings).flatMap(({ payload }) => {
      const count = Math.floor(payload.length / 6);
      return Array.from({ length: count }, (_, index) => payload.readUInt16BE(6 * index));
    });
    expect(settings).not.toContain(ENABLE_CONNECT_PROTOCOL);
    const fields = [[":protocol", "websocket"]] as const;
    const { reset } = await client.request(1, { method: "CONNECT", fields });
    expect(reset).toBe(ErrorCode.protocol);
    client.destroy();
  });
});
