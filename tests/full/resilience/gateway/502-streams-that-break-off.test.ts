/**
 * Tests of requests during which the client or the service closes, hangs or breaks off (GW-115 to GW-125).
 */
import { describe, expect, test } from "bun:test";
import { useGateway, useService } from "../../../app/gateway/bed.ts";
import { publicService } from "../../../support/gateway/gateway.ts";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import { RawClient, type RawSocket, RawUpstream, rawRequest, spell } from "../../../support/http/raw-http.ts";
import { services, waitFor } from "../../../support/index.ts";

const BODY_BYTES_MAX = 1_000_000;
const CHUNK = "x".repeat(65_536);
const service = useService({ atHead: true });
const gateway = useGateway(
  {
    MAX_BODY_BYTES: String(BODY_BYTES_MAX),
    UPSTREAM_TIMEOUT_MS: "400",
    UPSTREAM_IDLE_TIMEOUT_MS: "400",
  },
  () => ({
    things: publicService(service.url, {
      path: "/things",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"],
    }),
  }),
);

const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
const lengthHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n";
const chunk = `10000\r\n${CHUNK}\r\n`;

// GW-117
test.each<[string, string, (socket: RawSocket) => void]>([
  ["with a broken chunk", chunkedHead + chunk, (socket) => socket.send("this is no chunk\r\n")],
  ["by sending no further chunk", chunkedHead + chunk, () => {}],
  ["by sending nothing more of a known length", lengthHead + CHUNK, () => {}],
])(
  "a service that breaks off within its response %s closes the client's connection",
  async (_, part, end) => {
    service.handler = (_request, socket) => {
      socket.send(part);
      setTimeout(() => end(socket), 30);
      return null;
    };
    const client = await RawClient.connect(gateway.url);
    client.send(spell("GET", "/things"));
    const response = await client.response();
    expect(response).toMatchObject({ status: 200, complete: false });
    expect(client.closed).toBe(true);
    expect(response.body.toString().endsWith("0\r\n\r\n")).toBe(false);
    client.destroy();
  },
);

// GW-19, GW-115, GW-118
test.each<[string, string, (socket: RawSocket) => void]>([
  ["sends nothing", "GET", () => {}],
  ["sends nothing", "POST", () => {}],
  ["speaks another protocol", "POST", (socket) => socket.send("220 mail.example ESMTP\r\n")],
])("a request gets 502 when the service %s (%s)", async (_, method, way) => {
  service.handler = (_request, socket) => {
    way(socket);
    return null;
  };
  const response = await rawRequest(gateway.url, spell(method, "/things"));
  expect(response).toMatchObject({ status: 502, complete: true });
  expect(JSON.parse(response.body.toString())).toMatchObject({
    error: { type: "api_error", code: "SERVICE_UNAVAILABLE", details: null },
  });
});

describe.skipIf(!services().etcd.real)("a gateway as a process", () => {
  // GW-125
  test("serves other requests while a thousand upstream calls hang", async () => {
    const hung: RawSocket[] = [];
    const slow = new RawUpstream((_, socket) => {
      hung.push(socket);
      return null;
    });
    const process = await startGateway({
      services: {
        hangs: publicService(slow.url, { path: "/hangs", methods: ["GET"] }),
        works: publicService(service.url, { path: "/works", methods: ["GET"] }),
      },
    });
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => RawClient.connect(process.url)));
    for (const client of clients) client.send(spell("GET", "/hangs"));
    await waitFor(() => hung.length === 1_000, { what: "a thousand calls to reach the service" });
    for (let request = 0; request < 20; request++) {
      expect((await rawRequest(process.url, spell("GET", "/works"))).status).toBe(200);
    }
    for (const client of clients) client.destroy();
    await waitFor(() => slow.open === 0, { what: "the calls ending with their clients" });
    expect(await process.stop()).toBe(0);
    slow.close();
  });
});
