/**
 * Tests that a WebSocket handshake is admitted, limited, authorized and audited like any request (GW-127).
 */
import { describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import type { LocalGateway } from "../../support/gateway/gateway.ts";
import { MEMBER_KEY } from "../../support/gateway/neighbours.ts";
import { handshake } from "../../support/gateway/raw-websocket.ts";
import { chat, UNLABELLED_KEY, WebSocketBed } from "../../support/gateway/websocket-bed.ts";
import { headerValue, RawClient, RawUpstream, rawRequest } from "../../support/http/raw-http.ts";
import { waitFor } from "../../support/index.ts";
import { useBed, useGateway } from "./bed.ts";

const bed = useBed(new WebSocketBed());

// GW-82, GW-127
test("the service gets its own path and the query, but no credentials and no client values of gateway headers", async () => {
  const client = await bed.connect("/org/room?x=1", {
    headers: { "X-API-Key": MEMBER_KEY, Authorization: "Bearer x", Cookie: "a=1", "X-Request-ID": "mine" },
  });
  const { target, headers } = bed.sockets[0]?.data ?? { target: "", headers: new Headers() };
  expect(target).toBe("/organizations/o1/room?x=1");
  expect(headers.get("x-api-key")).toBeNull();
  expect(headers.get("authorization")).toBeNull();
  expect(headers.get("cookie")).toBe("a=1");
  expect(headers.get("traceparent")).toMatch(/^00-/);
  expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  client.socket.close();
});

// GW-128
describe("a page of an origin that ALLOWED_ORIGINS does not list", () => {
  // CORS does not apply to WebSockets: a browser lets any page read the messages of any server.
  const listed = useGateway({ ...bed.env, ALLOWED_ORIGINS: "https://a.example" }, () => ({
    chat: chat(bed.url),
  }));
  const opened = async (gateway: LocalGateway, origin: Record<string, string>) => {
    const client = await RawClient.connect(gateway.url);
    client.send(handshake("/public/a", origin));
    const { status } = await client.response();
    client.destroy();
    return status;
  };

  test("is refused, and the service is not called", async () => {
    const origins = [
      "https://evil.example",
      "http://a.example",
      "https://a.example:8443",
      "https://a.example/",
    ];
    for (const Origin of [...origins, "https://a.example.evil.example", "https://A.example", "null", ""]) {
      expect([Origin, await opened(listed, { Origin })]).toEqual([Origin, 400]);
    }
    expect(bed.sockets).toHaveLength(0);
  });

  test("connects without the variable, as a listed page does, and a client without Origin", async () => {
    expect(await opened(bed.gateway, { Origin: "https://evil.example" })).toBe(101);
    expect(await opened(listed, { Origin: "https://a.example" })).toBe(101);
    expect(await opened(listed, {})).toBe(101);
  });
});

// GW-1, GW-127, GW-128
describe("a request that is refused never reaches the service:", () => {
  const table: [status: number, name: string, bytes: string][] = [
    [401, "no credential", handshake("/org/room")],
    [404, "an unmatched path", handshake("/nowhere")],
    [404, "a route without GET", handshake("/posts")],
    [400, "a param with an encoded slash", handshake("/public/a%2fb")],
    [400, "an unsupported WebSocket version", handshake("/public/a", { "Sec-WebSocket-Version": "8" })],
    [400, "a malformed Sec-WebSocket-Key", handshake("/public/a", { "Sec-WebSocket-Key": "x" })],
  ];
  test.each(table)("%i for %s", async (status, _, bytes) => {
    const response = await rawRequest(bed.gateway.url, bytes);
    expect(response.status).toBe(status);
    expect(JSON.parse(response.body.toString())).toHaveProperty("error.code");
    expect(bed.sockets).toEqual([]);
  });

  // GW-142
  test("403 for a member without the label, and its event has the outcome rejected", async () => {
    expect(
      (await rawRequest(bed.gateway.url, handshake("/org/room", { "X-API-Key": UNLABELLED_KEY }))).status,
    ).toBe(403);
    const outcome = await waitFor(() => bed.audit.of("PATCH")[0]?.body);
    expect(outcome).toMatchObject({ outcome: "rejected", status: 403 });
  });
});

// GW-129, GW-144
describe("returns 502 if the service does not accept the handshake:", () => {
  test("it refuses, and the event has the outcome no_response", async () => {
    const response = await rawRequest(
      bed.gateway.url,
      handshake("/org/refuses", { "X-API-Key": MEMBER_KEY }),
    );
    expect(response.status).toBe(502);
    const outcome = await waitFor(() => bed.audit.of("PATCH")[0]?.body);
    expect(outcome).toMatchObject({ outcome: "no_response", status: 502 });
  });

  test("it cannot be reached", async () => {
    expect((await rawRequest(bed.gateway.url, handshake("/dead"))).status).toBe(502);
  });

  test("it hangs", async () => {
    const hangs = new RawUpstream(() => null);
    const routing: StoredServiceConfig = {
      url: hangs.url,
      public: { routes: [{ path: "/hangs", methods: ["GET"] }] },
    };
    await bed.gateway.publish({ hangs: routing });
    expect((await rawRequest(bed.gateway.url, handshake("/hangs"))).status).toBe(502);
    await waitFor(() => hangs.open === 0);
    hangs.close();
  });
});

// GW-143
test("a WebSocket has an event with the outcome responded and 101, has a log line at its end, and is counted in metrics", async () => {
  const client = await RawClient.connect(bed.gateway.url);
  client.send(handshake("/org/room", { "X-API-Key": MEMBER_KEY }));
  const id = headerValue((await client.response()).headers, "x-request-id") ?? "";
  expect(await waitFor(() => bed.audit.of("PATCH")[0]?.body)).toMatchObject({
    outcome: "responded",
    status: 101,
  });
  expect(bed.audit.of("PUT")[0]?.body).toMatchObject({
    method: "GET",
    route: "/org/{room}",
    params: { room: "room" },
  });
  expect(bed.gateway.logs().filter((line) => line.request_id === id)).toEqual([]);
  client.destroy();
  expect(await bed.gateway.logOf(id)).toMatchObject({
    message: "request completed",
    status: 101,
    route: "/org/{room}",
  });
  expect(await bed.gateway.metrics()).toContain(
    'http_requests_total{route="/org/{room}",method="GET",status="101"}',
  );
});

// GW-133
test.each(["", "Connection: keep-alive\r\n"])(
  "the gateway ignores an upgrade that Connection does not name: %j",
  async (line) => {
    const bytes = handshake("/public/a").replace("Connection: Upgrade\r\n", line);
    const response = await rawRequest(bed.gateway.url, bytes);
    expect(response.status).toBe(400);
    expect(response.body.toString()).toBe("no");
  },
);
