/** Tests which requests get their count back from a limit with `charge: success`. */
import { afterAll, describe, expect, test } from "bun:test";
import { handshake } from "../../support/gateway/raw-websocket.ts";
import {
  chunk,
  headerValue,
  OK_CLOSE,
  RawClient,
  RawUpstream,
  rawRequest,
  spell,
} from "../../support/http/raw-http.ts";
import { waitFor } from "../../support/index.ts";
import { useGateway } from "./bed.ts";

const QUOTA = 3;
const MANY = 1_000;
/** A service that responds to a request before the body arrives. */
const service = new RawUpstream(() => OK_CLOSE, { atHead: true });
afterAll(() => service.close());

let routes = 0;
/** Returns the path of a route that no other test uses. */
const newRoute = () => `/limited/${String.fromCharCode(97 + routes++)}`;
const gateway = useGateway({ MAX_BODY_BYTES: "100000", MAX_UPSTREAM_REQUESTS: "1" }, () => {
  const limit = { requests: QUOTA, period: "day", charge: "success" } as const;
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const all = letters.map((letter) => ({
    path: `/limited/${letter}/{id}`,
    upstream: "/{path.id}",
    methods: ["GET" as const, "POST" as const],
    rate_limit: letter,
  }));
  const rate_limits = {
    ...Object.fromEntries(letters.map((letter) => [letter, limit])),
    z: { ...limit, requests: MANY },
  };
  return {
    limited: { url: service.url, rate_limits, public: { routes: all } },
    free: { url: service.url, public: { routes: [{ path: "/free", methods: ["GET"], rate_limit: false }] } },
  };
});

type Leave = "end" | "destroy";

/** Sends `bytes`, and leaves when `isTime` is true. Resolves when the gateway has no request in flight. */
async function leave(bytes: string, how: Leave, isTime: (client: RawClient) => boolean): Promise<void> {
  const client = await RawClient.connect(gateway.url);
  client.send(bytes);
  await waitFor(() => isTime(client));
  client[how]();
  await waitFor(async () => /^gateway_requests_in_flight 0$/m.test(await gateway.metrics()));
}

/** Returns the number of requests that the route's limit still admits. */
async function left(route: string): Promise<number> {
  service.handler = () => OK_CLOSE;
  const response = await rawRequest(gateway.url, spell("GET", `${route}/probe`));
  const remaining = Number(headerValue(response.headers, "x-ratelimit-remaining"));
  return response.status === 429 ? 0 : remaining + 1;
}

const post = (target: string, length: number, body: string) =>
  spell("POST", target, { "Content-Length": String(length) }, body);
const chunkedPost = (target: string, body: string) =>
  spell("POST", target, { "Transfer-Encoding": "chunked" }, chunk(body));

// GW-185
describe("a request whose client leaves after the service received it stays charged:", () => {
  test.each<[string, (target: string) => string, Leave]>([
    ["a small body", (target) => post(target, 2, "{}"), "end"],
    ["half of a large body and a reset", (target) => post(target, 90_000, "x".repeat(70_000)), "destroy"],
    ["half of a chunked body and a reset", (target) => chunkedPost(target, "x".repeat(1_000)), "destroy"],
    ["no body", (target) => spell("GET", target), "end"],
  ])("%s", async (_, bytes, how) => {
    service.handler = () => null;
    service.requests.length = 0;
    const route = newRoute();
    for (let sent = 1; sent <= 2 * QUOTA; sent++) {
      await leave(
        bytes(`${route}/1`),
        how,
        (client) => service.requests.length === sent || client.receivedBytes > 0,
      );
    }
    expect(service.requests).toHaveLength(QUOTA);
    expect(await left(route)).toBe(0);
  });
});

// GW-185
test.each([200, 429])(
  "a WebSocket's handshake on any GET route to which the service responds with %d stays charged",
  async (status) => {
    service.handler = () => `HTTP/1.1 ${status} Plain\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
    service.requests.length = 0;
    const route = newRoute();
    const statuses: number[] = [];
    for (let sent = 1; sent <= 2 * QUOTA; sent++) {
      statuses.push((await rawRequest(gateway.url, handshake(`${route}/1`))).status);
    }
    expect(service.requests).toHaveLength(QUOTA);
    expect(statuses).toEqual([...Array(QUOTA).fill(502), ...Array(QUOTA).fill(429)]);
    expect(await left(route)).toBe(0);
  },
);

// GW-185, GW-65
test("clients that reset at any moment are charged for each request that the service receives", async () => {
  service.handler = () => null;
  service.requests.length = 0;
  for (let sent = 0; sent < 40; sent++) {
    const client = await RawClient.connect(gateway.url);
    client.send(post("/limited/z/1", 2, "{}"));
    for (let turn = 0; turn < sent % 5; turn++) await new Promise(setImmediate);
    client.destroy();
  }
  await waitFor(async () => /^gateway_requests_in_flight 0$/m.test(await gateway.metrics()));
  const received = service.requests.length;
  expect(received).toBeGreaterThan(0);
  expect(await left("/limited/z")).toBeLessThanOrEqual(MANY - received);
});

// GW-185
describe("a request gets its count back", () => {
  /** Expects that twice as many calls of `send` as the quota admits leave the quota as it was. */
  async function expectGivenBack(send: (route: string) => Promise<unknown>): Promise<void> {
    const route = newRoute();
    for (let sent = 0; sent < 2 * QUOTA; sent++) await send(route);
    expect(await left(route)).toBe(QUOTA);
  }

  test("when the client leaves within a 5xx of the service", async () => {
    service.handler = (_, socket) => {
      socket.send("HTTP/1.1 503 Away\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n");
      return null;
    };
    await expectGivenBack((route) =>
      leave(post(`${route}/1`, 2, "{}"), "destroy", (client) => client.receivedBytes > 0),
    );
  });

  test("when the service responds to the handshake of a WebSocket with a 5xx", async () => {
    service.handler = () => "HTTP/1.1 503 Away\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    await expectGivenBack(async (route) => {
      expect((await rawRequest(gateway.url, handshake(`${route}/1`))).status).toBe(502);
    });
  });

  test("when the service breaks the connection", async () => {
    service.handler = (_, socket) => {
      socket.destroy();
      return null;
    };
    await expectGivenBack(async (route) => {
      const { status } = await rawRequest(gateway.url, post(`${route}/1`, 2, "{}"));
      expect(status).toBe(502);
    });
  });

  test("when the client leaves before its small body is complete", async () => {
    await expectGivenBack((route) => {
      const begun = performance.now();
      return leave(post(`${route}/1`, 9, "{}"), "end", () => performance.now() > begun);
    });
  });

  test("when the gateway refuses the body or the path", async () => {
    await expectGivenBack(async (route) => {
      const large = await rawRequest(gateway.url, post(`${route}/1`, 100_001, ""));
      const split = await rawRequest(gateway.url, spell("GET", `${route}/%2f`));
      expect([large.status, split.status]).toEqual([413, 400]);
    });
  });

  test("when the client leaves while the request waits for a connection", async () => {
    service.handler = () => null;
    service.requests.length = 0;
    const holding = await RawClient.connect(gateway.url);
    holding.send(spell("GET", "/free"));
    await waitFor(() => service.requests.length === 1);
    const route = newRoute();
    for (let sent = 0; sent < 2 * QUOTA; sent++) {
      const client = await RawClient.connect(gateway.url);
      client.send(post(`${route}/1`, 2, "{}"));
      await waitFor(async () => /^gateway_open_upstream_calls 2$/m.test(await gateway.metrics()));
      client.destroy();
      await waitFor(async () => /^gateway_open_upstream_calls 1$/m.test(await gateway.metrics()));
    }
    expect(service.requests).toHaveLength(1);
    holding.destroy();
    await waitFor(async () => /^gateway_open_upstream_calls 0$/m.test(await gateway.metrics()));
    expect(await left(route)).toBe(QUOTA);
  });
});
