import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/routes";
import { type LocalGateway, startLocalGateway } from "../support/gateway.ts";
import { waitFor } from "../support/index.ts";
import { headerValue, RawClient, RawUpstream, rawRequest, spell } from "../support/raw-http.ts";
import { type IdentityStandIn, startIdentity } from "../unit/gateway-admission/identity-stand-in.ts";
import { type AuditStandIn, startAudit } from "../unit/gateway-audit/audit-stand-in.ts";

/** WebSockets are admitted like any request, then joined (beyond the specification). */

const MEMBER_KEY = `acme-k-2-${"a".repeat(43)}`;
const MESSAGE_BYTES_MAX = 200_000;
const IDLE_TIMEOUT_MS = 1_000;

interface Seen {
  target: string;
  headers: Headers;
}

let identity: IdentityStandIn;
let audit: AuditStandIn;
let gateway: LocalGateway;
let service: Bun.Server<Seen>;
let sockets: Bun.ServerWebSocket<Seen>[] = [];
let onMessage: (socket: Bun.ServerWebSocket<Seen>, message: string | Buffer) => void = () => {};
const closes: { code: number; reason: string }[] = [];

function routes(url: string): StoredServiceConfig {
  return {
    url,
    public: {
      routes: [
        { path: "/public/{room}", methods: ["GET"] },
        { path: "/posts", methods: ["POST"] },
      ],
    },
    organization: {
      routes: [
        {
          path: "/org/{room}",
          upstream: "/organizations/{subject.organization_id}/{path.room}",
          methods: ["GET"],
          audit: true,
          required_labels: ["chat"],
        },
        { path: "/limited", methods: ["GET"], rate_limit: { requests: 1, window_seconds: 60 } },
      ],
    },
  };
}

beforeAll(async () => {
  identity = startIdentity();
  audit = startAudit();
  const member = {
    valid: true,
    realm: "organization",
    organization_id: "o1",
    member_id: "m1",
    labels: ["chat"],
  };
  identity.results.set(MEMBER_KEY, member);
  service = Bun.serve<Seen>({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request, server) {
      const { pathname, search } = new URL(request.url);
      if (pathname.includes("refuses")) return new Response("no", { status: 403 });
      const data = { target: pathname + search, headers: request.headers };
      return server.upgrade(request, { data }) ? undefined : new Response("no", { status: 400 });
    },
    websocket: {
      maxPayloadLength: 10_000_000,
      backpressureLimit: 0,
      open: (socket) => void sockets.push(socket),
      message: (socket, message) => onMessage(socket, message),
      close: (_, code, reason) => void closes.push({ code, reason }),
    },
  });
  gateway = await startLocalGateway({
    CREDENTIAL_VALIDATE_URL: identity.url,
    AUDIT_ENABLED: "true",
    AUDIT_URL: audit.url,
    WEBSOCKET_MESSAGE_BYTES_MAX: String(MESSAGE_BYTES_MAX),
    WEBSOCKET_IDLE_TIMEOUT_MS: String(IDLE_TIMEOUT_MS),
    UPSTREAM_TIMEOUT_MS: "300",
  });
  await gateway.publish({
    chat: routes(`http://127.0.0.1:${service.port}`),
    dead: { url: "http://127.0.0.1:9", public: { routes: [{ path: "/dead", methods: ["GET"] }] } },
  });
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([service.stop(true), identity.stop(), audit.stop()]);
});

afterEach(async () => {
  await waitFor(() => sockets.every((socket) => socket.readyState === WebSocket.CLOSED));
  sockets = [];
  closes.length = 0;
  audit.writes.length = 0;
  onMessage = () => {};
});

interface Client {
  socket: WebSocket;
  messages: (string | Buffer)[];
  closed: { code: number; reason: string } | null;
}

/** A client's WebSocket once it is open, or closed without ever having been. */
async function connect(path: string, options: Bun.WebSocketOptions = {}): Promise<Client> {
  const socket = new WebSocket(gateway.url.replace("http", "ws") + path, options);
  const client: Client = { socket, messages: [], closed: null };
  const settled = Promise.withResolvers<void>();
  socket.addEventListener("open", () => settled.resolve());
  socket.addEventListener("error", () => {});
  socket.addEventListener("message", ({ data }) => void client.messages.push(data));
  socket.addEventListener("close", ({ code, reason }) => {
    client.closed = { code, reason };
    settled.resolve();
  });
  await settled.promise;
  return client;
}

const closedOf = (client: Client) => waitFor(() => client.closed, { what: "The client's WebSocket closing" });
const closedAtService = () => waitFor(() => closes[0], { what: "The service's WebSocket closing" });

function handshake(path: string, headers: Record<string, string> = {}): string {
  return spell("GET", path, {
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  });
}

test("text arrives as text and bytes as bytes, both ways, in order", async () => {
  onMessage = (socket, message) => void socket.send(message);
  const client = await connect("/public/a");
  client.socket.send("one");
  client.socket.send(Buffer.from([0, 1, 255]));
  client.socket.send("");
  client.socket.send("zwei €");
  await waitFor(() => client.messages.length === 4);
  expect(client.messages).toEqual(["one", Buffer.from([0, 1, 255]), "", "zwei €"]);
  client.socket.close();
});

test("the service sees its own path, the query, and neither credentials nor what the gateway must set", async () => {
  const client = await connect("/org/room?x=1", {
    headers: { "X-API-Key": MEMBER_KEY, Authorization: "Bearer x", Cookie: "a=1", "X-Request-ID": "mine" },
  });
  const { target, headers } = sockets[0]?.data ?? { target: "", headers: new Headers() };
  expect(target).toBe("/organizations/o1/room?x=1");
  expect(headers.get("x-api-key")).toBeNull();
  expect(headers.get("authorization")).toBeNull();
  expect(headers.get("cookie")).toBe("a=1");
  expect(headers.get("traceparent")).toMatch(/^00-/);
  expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  client.socket.close();
});

test("the upgrade carries X-Request-ID", async () => {
  const client = await RawClient.connect(gateway.url);
  client.send(handshake("/public/a"));
  const response = await client.response();
  expect(response.status).toBe(101);
  expect(headerValue(response.headers, "x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect(headerValue(response.headers, "sec-websocket-accept")).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  client.destroy();
});

test("the service chooses the subprotocol", async () => {
  const client = await connect("/public/a", { protocols: ["second", "first"] });
  expect(sockets[0]?.data.headers.get("sec-websocket-protocol")).toBe("second, first");
  expect(client.socket.protocol).toBe("second");
  client.socket.close();
});

describe("what is refused, is refused before the service is asked", () => {
  const table: [name: string, bytes: string, status: number][] = [
    ["no credential", handshake("/org/room"), 401],
    ["an unmatched path", handshake("/nowhere"), 404],
    ["a route without GET", handshake("/posts"), 404],
    ["a param that is no segment", handshake("/public/a%2fb"), 400],
    ["another version", handshake("/public/a", { "Sec-WebSocket-Version": "8" }), 400],
    ["a key that is none", handshake("/public/a", { "Sec-WebSocket-Key": "x" }), 400],
  ];
  for (const [name, bytes, status] of table) {
    test(`${status} for ${name}`, async () => {
      const response = await rawRequest(gateway.url, bytes);
      expect(response.status).toBe(status);
      expect(JSON.parse(response.body.toString())).toHaveProperty("error.code");
      expect(sockets).toEqual([]);
    });
  }

  test("403 for a member without the label, with its event rejected", async () => {
    const key = `acme-k-2-${"b".repeat(43)}`;
    identity.results.set(key, {
      valid: true,
      realm: "organization",
      organization_id: "o1",
      member_id: "m2",
      labels: [],
    });
    expect((await rawRequest(gateway.url, handshake("/org/room", { "X-API-Key": key }))).status).toBe(403);
    const outcome = await waitFor(() => audit.of("PATCH")[0]?.body);
    expect(outcome).toMatchObject({ outcome: "rejected", status: 403 });
  });

  test("429 past the limit", async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      const client = await RawClient.connect(gateway.url);
      client.send(handshake("/limited", { "X-API-Key": MEMBER_KEY }));
      statuses.push((await client.response()).status);
      client.destroy();
    }
    expect(statuses).toEqual([101, 429]);
  });
});

describe("502 for a service that does not accept", () => {
  test("it refuses, with an event that it gave no response", async () => {
    const response = await rawRequest(gateway.url, handshake("/org/refuses", { "X-API-Key": MEMBER_KEY }));
    expect(response.status).toBe(502);
    const outcome = await waitFor(() => audit.of("PATCH")[0]?.body);
    expect(outcome).toMatchObject({ outcome: "no_response", status: 502 });
  });

  test("it can not be reached", async () => {
    expect((await rawRequest(gateway.url, handshake("/dead"))).status).toBe(502);
  });

  test("it hangs", async () => {
    const hangs = new RawUpstream(() => null);
    const routing: StoredServiceConfig = {
      url: hangs.url,
      public: { routes: [{ path: "/hangs", methods: ["GET"] }] },
    };
    await gateway.publish({ hangs: routing });
    expect((await rawRequest(gateway.url, handshake("/hangs"))).status).toBe(502);
    await waitFor(() => hangs.open === 0);
    hangs.close();
  });
});

describe("when one side closes, so does the other", () => {
  const table: [code: number | undefined, reason: string][] = [
    [1000, "done"],
    [1001, ""],
    [1011, "broken"],
    [3000, ""],
    [4999, "grüße"],
  ];
  for (const [code, reason] of table) {
    test(`the client, with ${code} ${reason}`, async () => {
      const client = await connect("/public/a");
      client.socket.close(code, reason);
      expect(await closedAtService()).toEqual({ code: code ?? 1005, reason });
    });
    test(`the service, with ${code} ${reason}`, async () => {
      onMessage = (socket) => socket.close(code, reason);
      const client = await connect("/public/a");
      client.socket.send("close");
      expect(await closedOf(client)).toEqual({ code: code ?? 1000, reason });
    });
  }

  test("the client breaks off", async () => {
    const client = await connect("/public/a");
    client.socket.terminate();
    expect((await closedAtService()).code).toBe(1001);
  });

  test("the service breaks off", async () => {
    onMessage = (socket) => socket.terminate();
    const client = await connect("/public/a");
    client.socket.send("break");
    expect((await closedOf(client)).code).toBe(1014);
  });
});

test("what the service says in the same breath as it accepts is not lost", async () => {
  const eager = new RawUpstream((request) => {
    const key = headerValue(request.headers, "sec-websocket-key") ?? "";
    const accept = new Bun.CryptoHasher("sha1")
      .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n\x81\x05hello\x81\x05again`;
  });
  const routing: StoredServiceConfig = {
    url: eager.url,
    public: { routes: [{ path: "/eager", methods: ["GET"] }] },
  };
  await gateway.publish({ eager: routing });
  for (let attempt = 0; attempt < 20; attempt++) {
    const client = await connect("/eager");
    await waitFor(() => client.messages.length === 2);
    expect(client.messages).toEqual(["hello", "again"]);
    client.socket.terminate();
  }
  eager.close();
});

describe("a message over the limit closes both sides with 1009", () => {
  test("from the client", async () => {
    const client = await connect("/public/a");
    client.socket.send("x".repeat(MESSAGE_BYTES_MAX + 1));
    expect((await closedOf(client)).code).toBe(1009);
    await closedAtService();
  });

  test("from the service", async () => {
    onMessage = (socket) => void socket.send("x".repeat(MESSAGE_BYTES_MAX + 1));
    const client = await connect("/public/a");
    client.socket.send("go");
    expect((await closedOf(client)).code).toBe(1009);
    expect((await closedAtService()).code).toBe(1009);
  });

  test("while one of exactly the limit passes", async () => {
    onMessage = (socket, message) => void socket.send(message);
    const client = await connect("/public/a");
    client.socket.send("x".repeat(MESSAGE_BYTES_MAX));
    await waitFor(() => client.messages.length === 1);
    client.socket.close();
  });
});

describe("a side that is slow to read stops the other", () => {
  const part = Buffer.alloc(100_000);
  const parts = 1_000;

  test("the client", async () => {
    let sent = 0;
    const more = (socket: Bun.ServerWebSocket<Seen>) => {
      while (sent < parts) {
        sent += 1;
        if (socket.send(part) < 0) return;
      }
    };
    onMessage = (socket) => more(socket);
    const client = await connect("/public/a");
    client.socket.send("go");
    await waitFor(() => client.messages.length > 0);
    client.socket.pause();
    const feeding = setInterval(() => {
      const socket = sockets[0];
      if (socket !== undefined && socket.getBufferedAmount() === 0) more(socket);
    }, 2);
    const resting = await settled(() => sent);
    expect(resting).toBeLessThan(parts / 2);
    client.socket.resume();
    await waitFor(() => client.messages.length === parts, { what: "Every message arriving" });
    clearInterval(feeding);
    client.socket.close();
  });

  test("the service", async () => {
    let received = 0;
    let reading = false;
    onMessage = (socket) => {
      received += 1;
      if (!reading) socket.pause();
    };
    const client = await connect("/public/a");
    let sent = 0;
    const feeding = setInterval(() => {
      while (sent < parts && client.socket.bufferedAmount < part.length) {
        sent += 1;
        client.socket.send(part);
      }
    }, 2);
    expect(await settled(() => sent)).toBeLessThan(parts / 2);
    reading = true;
    sockets[0]?.resume();
    await waitFor(() => received === parts, { what: "Every message arriving" });
    clearInterval(feeding);
    client.socket.close();
  });
});

describe("silence", () => {
  test("in both directions closes the tunnel", async () => {
    const client = await connect("/public/a");
    expect(await closedOf(client)).toEqual({ code: 1001, reason: "idle" });
    expect(await closedAtService()).toEqual({ code: 1001, reason: "idle" });
  });

  test("is broken by a message of either side, and by a ping", async () => {
    for (const speak of [
      (client: Client) => client.socket.send("x"),
      () => sockets.at(-1)?.send("x"),
      (client: Client) => client.socket.ping(),
      () => sockets.at(-1)?.ping(),
    ]) {
      const client = await connect("/public/a");
      const started = performance.now();
      const speaking = setInterval(() => speak(client), IDLE_TIMEOUT_MS / 4);
      await waitFor(() => performance.now() - started > IDLE_TIMEOUT_MS * 1.5);
      clearInterval(speaking);
      expect(client.closed).toBeNull();
      client.socket.close();
    }
  });
});

test("the event says responded with 101, the log line comes at the end, and the metrics count it", async () => {
  const client = await RawClient.connect(gateway.url);
  client.send(handshake("/org/room", { "X-API-Key": MEMBER_KEY }));
  const id = headerValue((await client.response()).headers, "x-request-id") ?? "";
  expect(await waitFor(() => audit.of("PATCH")[0]?.body)).toMatchObject({
    outcome: "responded",
    status: 101,
  });
  expect(audit.of("PUT")[0]?.body).toMatchObject({
    method: "GET",
    route: "/org/{room}",
    params: { room: "room" },
  });
  expect(gateway.logs().filter((line) => line.request_id === id)).toEqual([]);
  client.destroy();
  expect(await gateway.logOf(id)).toMatchObject({
    message: "request completed",
    status: 101,
    route: "/org/{room}",
  });
  expect(await gateway.metrics()).toContain(
    'http_requests_total{route="/org/{room}",method="GET",status="101"}',
  );
});

test("other upgrades are ignored, as HTTP allows", async () => {
  const response = await rawRequest(
    gateway.url,
    spell("GET", "/public/a", { Connection: "Upgrade", Upgrade: "h2c" }),
  );
  expect(response.status).toBe(400);
  expect(response.body.toString()).toBe("no");
});

test("a gateway that stops tells clients to come back elsewhere", async () => {
  const stopping = await startLocalGateway({ SHUTDOWN_TIMEOUT_MS: "20000" });
  await stopping.publish({ chat: routes(`http://127.0.0.1:${service.port}`) });
  const socket = new WebSocket(`${stopping.url.replace("http", "ws")}/public/a`);
  const closed = Promise.withResolvers<number>();
  socket.addEventListener("close", ({ code }) => closed.resolve(code));
  await waitFor(() => socket.readyState === WebSocket.OPEN);
  const started = performance.now();
  await stopping.close();
  expect(await closed.promise).toBe(1001);
  // and does not wait for them
  expect(performance.now() - started).toBeLessThan(10_000);
});

/** The value of `look` once it has not changed for 300 ms. */
async function settled(look: () => number): Promise<number> {
  for (let last = -1, since = performance.now(); ; ) {
    const now = look();
    if (now !== last) {
      last = now;
      since = performance.now();
    } else if (now > 0 && performance.now() - since > 300) return now;
    await Bun.sleep(10);
  }
}
