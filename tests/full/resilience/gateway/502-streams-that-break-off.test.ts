/**
 * Tests of requests during which the client or the service closes, hangs or breaks off (GW-115 to GW-125).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type LocalGateway, publicService, startLocalGateway } from "../../../support/gateway/gateway.ts";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import {
  OK,
  RawClient,
  type RawSocket,
  RawUpstream,
  rawRequest,
  spell,
} from "../../../support/http/raw-http.ts";
import { services, waitFor } from "../../../support/index.ts";

setDefaultTimeout(60_000);

const BODY_BYTES_MAX = 1_000_000;
const CHUNK = "x".repeat(65_536);
const service = new RawUpstream(() => OK, { atHead: true });
let gateway: LocalGateway;

beforeAll(async () => {
  gateway = await startLocalGateway({
    MAX_BODY_BYTES: String(BODY_BYTES_MAX),
    UPSTREAM_TIMEOUT_MS: "400",
    UPSTREAM_IDLE_TIMEOUT_MS: "400",
  });
  await gateway.publish({
    things: publicService(service.url, {
      path: "/things",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"],
    }),
  });
});

afterAll(async () => {
  await gateway.close();
  service.close();
});

beforeEach(() => {
  for (const socket of service.sockets) socket.destroy();
  service.requests.length = 0;
  service.sockets.length = 0;
  service.handler = () => OK;
});

const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
const lengthHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n";
const chunk = `10000\r\n${CHUNK}\r\n`;

// GW-117
describe("a service that breaks off within its response closes the client's connection", () => {
  const endings: Record<string, (socket: RawSocket) => void> = {
    "with a broken chunk": (socket) => socket.send("this is no chunk\r\n"),
    "by sending nothing more": () => {},
  };
  for (const [name, ending] of Object.entries(endings)) {
    for (const [framing, head, part] of [
      ["chunked", chunkedHead, chunk],
      ["of known length", lengthHead, CHUNK],
    ] as const) {
      if (name === "with a broken chunk" && framing === "of known length") continue;
      test(`${name}, ${framing}`, async () => {
        service.handler = (_, socket) => {
          socket.send(head + part);
          setTimeout(() => ending(socket), 30);
          return null;
        };
        const client = await RawClient.connect(gateway.url);
        client.send(spell("GET", "/things"));
        const response = await client.response();
        expect(response).toMatchObject({ status: 200, complete: false });
        expect(client.closed).toBe(true);
        expect(response.body.toString().endsWith("0\r\n\r\n")).toBe(false);
        client.destroy();
      });
    }
  }
});

// GW-116
describe("the timeout of a response body applies to each pause, not to the whole body", () => {
  const PIECES = 5;
  const PIECE_MS = 150;
  for (const [name, head, piece, end] of [
    ["small", `HTTP/1.1 200 OK\r\nContent-Length: ${3 * PIECES}\r\n\r\n`, "abc", ""],
    ["large", `HTTP/1.1 200 OK\r\nContent-Length: ${CHUNK.length * PIECES}\r\n\r\n`, CHUNK, ""],
    ["chunked", chunkedHead, "3\r\nabc\r\n", "0\r\n\r\n"],
  ] as const) {
    test(`a ${name} body in pieces arrives completely, although it takes longer than the timeout`, async () => {
      service.handler = (_, socket) => {
        socket.send(head);
        let sent = 0;
        const timer = setInterval(() => {
          sent += 1;
          socket.send(sent === PIECES ? piece + end : piece);
          if (sent === PIECES) clearInterval(timer);
        }, PIECE_MS);
        return null;
      };
      const response = await rawRequest(gateway.url, spell("GET", "/things"));
      expect(response).toMatchObject({ status: 200, complete: true });
      const text = name === "large" ? CHUNK : "abc";
      expect(response.body.toString()).toBe(text.repeat(PIECES));
    });
  }
});

// GW-19, GW-115, GW-118
describe("a request gets 502 when the service", () => {
  const ways: Record<string, (socket: RawSocket) => void> = {
    "sends nothing": () => {},
    "speaks another protocol": (socket) => socket.send("220 mail.example ESMTP\r\n"),
  };
  for (const [name, way] of Object.entries(ways)) {
    for (const method of ["GET", "POST"]) {
      test(`${name} (${method})`, async () => {
        service.handler = (_, socket) => {
          way(socket);
          return null;
        };
        const response = await rawRequest(gateway.url, spell(method, "/things"));
        expect(response).toMatchObject({ status: 502, complete: true });
        expect(JSON.parse(response.body.toString())).toMatchObject({
          error: { type: "api_error", code: "SERVICE_UNAVAILABLE", details: null },
        });
      });
    }
  }
});

// GW-123
describe("a client that leaves ends the call to the service", () => {
  const gone = () => waitFor(() => service.open === 0, { what: "the service's connections closing" });

  test("before the response has started", async () => {
    service.handler = () => null;
    const client = await RawClient.connect(gateway.url);
    client.send(spell("GET", "/things"));
    await waitFor(() => service.requests.length === 1);
    client.destroy();
    await gone();
  });

  test("during a download", async () => {
    service.handler = (_, socket) => {
      socket.send(chunkedHead + chunk);
      const more = setInterval(() => (socket.closed ? clearInterval(more) : socket.send(chunk)), 5);
      return null;
    };
    const client = await RawClient.connect(gateway.url);
    client.send(spell("GET", "/things"));
    await client.until(() => client.receivedBytes > 100_000 || null, "Some of the download");
    client.destroy();
    await gone();
  });

  for (const [name, head, part] of [
    ["of known length", "Content-Length: 900000", CHUNK],
    ["of unknown length", "Transfer-Encoding: chunked", chunk],
  ] as const) {
    test(`during an upload ${name}, which must not look complete to the service`, async () => {
      let upstream: RawSocket | undefined;
      service.handler = (_, socket) => {
        upstream = socket;
        return null;
      };
      const client = await RawClient.connect(gateway.url);
      client.send(`POST /things HTTP/1.1\r\nHost: gateway.test\r\n${head}\r\n\r\n${part}`);
      await waitFor(() => (upstream?.receivedBytes ?? 0) > 60_000);
      client.destroy();
      await gone();
      expect(upstream?.received.toString("latin1").endsWith("0\r\n\r\n")).toBe(false);
    });
  }
});

// GW-113, GW-114
describe("a request gets 413 for a body over the limit", () => {
  test("at once if its Content-Length is over the limit, without a call to the service", async () => {
    const client = await RawClient.connect(gateway.url);
    client.send(spell("POST", "/things", { "Content-Length": String(BODY_BYTES_MAX + 1) }));
    const response = await client.response("POST");
    expect(response.status).toBe(413);
    expect(JSON.parse(response.body.toString())).toMatchObject({
      error: {
        type: "invalid_request_error",
        code: "PAYLOAD_TOO_LARGE",
        message: "Request body is too large.",
        details: { max_size_bytes: BODY_BYTES_MAX },
      },
    });
    expect(service.requests).toEqual([]);
    client.destroy();
  });

  test("during a body of unknown length, which must not look complete to the service", async () => {
    let upstream: RawSocket | undefined;
    service.handler = (_, socket) => {
      upstream = socket;
      return null;
    };
    const client = await RawClient.connect(gateway.url);
    client.send(spell("POST", "/things", { "Transfer-Encoding": "chunked" }));
    client.send(chunk.repeat(17));
    expect((await client.response("POST")).status).toBe(413);
    await waitFor(() => upstream === undefined || upstream.closed);
    expect(upstream?.received.toString("latin1") ?? "").not.toEndWith("0\r\n\r\n");
    client.destroy();
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
