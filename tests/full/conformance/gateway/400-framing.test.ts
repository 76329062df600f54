/**
 * Tests the framing of HTTP/1.1 messages (RFC 9112). The gateway must refuse a request if two parsers could
 * disagree about its end. Otherwise, a second request could be smuggled in it.
 */

import { describe, expect, test } from "bun:test";
import { useGateway, useService } from "../../../app/gateway/bed.ts";
import { publicService } from "../../../support/gateway/gateway.ts";
import { RawClient, rawRequest, spell } from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

const HIDDEN = "GET /hidden HTTP/1.1\r\nHost: gateway.test\r\n\r\n";
const BODY_BYTES_MAX = 1_000;
const service = useService();
const gateway = useGateway({ MAX_BODY_BYTES: String(BODY_BYTES_MAX) }, () => ({
  widgets: publicService(
    service.url,
    { path: "/widgets", methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] },
    { path: "/hidden", methods: ["GET"] },
  ),
}));

/** Returns a POST with exactly these header lines (besides Host), followed by an empty line and `body`. */
function post(headerLines: string, body: string): string {
  return `POST /widgets HTTP/1.1\r\nHost: gateway.test\r\n${headerLines}\r\n${body}`;
}

function get(headerLines: string): string {
  return `GET /widgets HTTP/1.1\r\n${headerLines}\r\n`;
}

const CHUNKED = "Transfer-Encoding: chunked\r\n";
const HOST = "Host: gateway.test\r\n";

// GW-10
describe("a malformed or ambiguous request is refused, and no part of it reaches a service", () => {
  const table: Record<string, string> = {
    "CL.TE": post(`Content-Length: 4\r\n${CHUNKED}`, `0\r\n\r\n${HIDDEN}`),
    "TE.CL": post(`${CHUNKED}Content-Length: 4\r\n`, `2c\r\n${HIDDEN}\r\n0\r\n\r\n`),
    "Transfer-Encoding twice": post(CHUNKED + CHUNKED, `0\r\n\r\n${HIDDEN}`),
    "chunked, then identity": post(`${CHUNKED}Transfer-Encoding: identity\r\n`, `0\r\n\r\n${HIDDEN}`),
    "identity, then chunked": post(`Transfer-Encoding: identity\r\n${CHUNKED}`, `0\r\n\r\n${HIDDEN}`),
    "chunked is not the last coding": post("Transfer-Encoding: chunked, identity\r\n", `0\r\n\r\n${HIDDEN}`),
    "a coding before chunked": post("Transfer-Encoding: gzip, chunked\r\n", `0\r\n\r\n${HIDDEN}`),
    "an unknown coding": post("Transfer-Encoding: xchunked\r\n", `0\r\n\r\n${HIDDEN}`),
    identity: post("Transfer-Encoding: identity\r\n", HIDDEN),
    "no coding": post("Transfer-Encoding: \r\n", `0\r\n\r\n${HIDDEN}`),
    "chunked in quotes": post('Transfer-Encoding: "chunked"\r\n', `0\r\n\r\n${HIDDEN}`),
    "a vertical tab before chunked": post("Transfer-Encoding: \x0bchunked\r\n", `0\r\n\r\n${HIDDEN}`),
    "a NUL after chunked": post("Transfer-Encoding: chunked\0\r\n", `0\r\n\r\n${HIDDEN}`),
    "a bare CR after chunked": post("Transfer-Encoding: chunked\rX: y\r\n", `0\r\n\r\n${HIDDEN}`),
    "a space before the colon of Transfer-Encoding": post(
      "Transfer-Encoding : chunked\r\n",
      `0\r\n\r\n${HIDDEN}`,
    ),
    "chunked in HTTP/1.0": `POST /widgets HTTP/1.0\r\n${HOST}${CHUNKED}\r\n0\r\n\r\n${HIDDEN}`,
    "two different lengths": post("Content-Length: 3\r\nContent-Length: 4\r\n", "abc"),
    "a list of lengths": post("Content-Length: 3, 3\r\n", "abc"),
    "a length with a sign": post("Content-Length: +3\r\n", "abc"),
    "a negative length": post("Content-Length: -3\r\n", "abc"),
    "a hexadecimal length": post("Content-Length: 0x3\r\n", "abc"),
    "a fractional length": post("Content-Length: 3.0\r\n", "abc"),
    "a length with a space inside": post("Content-Length: 3 3\r\n", "abc"),
    "a length past 64 bits": post("Content-Length: 18446744073709551619\r\n", "abc"),
    "no length after its colon": post("Content-Length: \r\n", "abc"),
    "a folded header": get(`${HOST}X-A: 1\r\n folded\r\n`),
    "a header folded by a tab": get(`${HOST}X-A: 1\r\n\tfolded\r\n`),
    "a fold as first line": `GET /widgets HTTP/1.1\r\n ${HOST}\r\n`,
    "bare line feeds": "GET /widgets HTTP/1.1\nHost: gateway.test\n\n",
    "a bare line feed between headers": get("Host: gateway.test\nX-A: 1\r\n"),
    "a bare line feed as empty line": `GET /widgets HTTP/1.1\r\n${HOST}\n${HIDDEN}`,
    "a bare CR in a header": get(`${HOST}X-A: 1\rX-B: 2\r\n`),
    "a NUL in a header": get(`${HOST}X-A: a\0b\r\n`),
    "a control byte in a header": get(`${HOST}X-A: a\x07b\r\n`),
    "a space before a colon": get(`${HOST}X-A : 1\r\n`),
    "a header without a name": get(`${HOST}: 1\r\n`),
    "a name that is not a token": get(`${HOST}X(A): 1\r\n`),
    "a line without a colon": get(`${HOST}X-A\r\n`),
    "no version": "GET /widgets\r\n\r\n",
    "HTTP/0.9": `GET /widgets HTTP/0.9\r\n${HOST}\r\n`,
    "HTTP/2.0 in a request line": `GET /widgets HTTP/2.0\r\n${HOST}\r\n`,
    "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "tabs in the request line": `GET\t/widgets\tHTTP/1.1\r\n${HOST}\r\n`,
    "two spaces in the request line": `GET  /widgets HTTP/1.1\r\n${HOST}\r\n`,
    "a space after the version": `GET /widgets HTTP/1.1 \r\n${HOST}\r\n`,
    "a method in lower case": `get /widgets HTTP/1.1\r\n${HOST}\r\n`,
    "a chunk size with 0x": post(CHUNKED, "0x3\r\nabc\r\n0\r\n\r\n"),
    "a negative chunk size": post(CHUNKED, "-3\r\nabc\r\n0\r\n\r\n"),
    "a chunk size past 64 bits": post(CHUNKED, "ffffffffffffffffff\r\nabc\r\n0\r\n\r\n"),
    "a chunk size with a space": post(CHUNKED, "3 \r\nabc\r\n0\r\n\r\n"),
    "no chunk size": post(CHUNKED, "\r\nabc\r\n0\r\n\r\n"),
    "a chunk size ended by a bare line feed": post(CHUNKED, `3\nabc\n0\n\n${HIDDEN}`),
    "a chunk extension with a bare line feed": post(CHUNKED, "3;a=b\nabc\r\n0\r\n\r\n"),
    "a chunk extension with a bare CR": post(CHUNKED, "3;a\rb\r\nabc\r\n0\r\n\r\n"),
    "a chunk extension without end": post(CHUNKED, `3;${"a".repeat(20_000)}\r\nabc\r\n0\r\n\r\n`),
    "a chunk shorter than its data": post(CHUNKED, "3\r\nabcd\r\n0\r\n\r\n"),
    "a chunk without its line end": post(CHUNKED, "3\r\nabc0\r\n\r\n"),
    trailers: post(CHUNKED, "3\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n"),
    "no Host": "GET /widgets HTTP/1.1\r\n\r\n",
    "headers past 16 KiB": get(`${HOST}X-A: ${"a".repeat(20_000)}\r\n`),
  };
  for (const [name, bytes] of Object.entries(table)) {
    test(name, async () => {
      const client = await RawClient.connect(gateway.url);
      client.send(bytes);
      await client.untilClosed();
      const statuses = [...client.received.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3}) /g)];
      expect(statuses.length).toBeLessThanOrEqual(1);
      expect(statuses.every(([, status]) => Number(status) >= 400)).toBe(true);
      expect(service.requests).toEqual([]);
    });
  }
});

// GW-10
test("trailers that arrive after the body has begun refuse the request, which the service never gets whole", async () => {
  const client = await RawClient.connect(gateway.url);
  client.send(post(CHUNKED, "3\r\nabc\r\n"));
  await waitFor(() => service.sockets.length > 0);
  client.send("0\r\nX-Trailer: 1\r\n\r\n");
  await client.untilClosed();
  expect(client.received.toString("latin1")).toStartWith("HTTP/1.1 400 ");
  expect(service.requests).toEqual([]);
});

// GW-6, GW-7
describe("ambiguous requests that the runtime accepts are refused with the error envelope", () => {
  const table: Record<string, string> = {
    "two equal lengths": post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"),
    "two Hosts": get("Host: a\r\nHost: b\r\n"),
    "the same Host twice": get(HOST + HOST),
    "a list of Hosts": get("Host: a, b\r\n"),
    "an empty Host": get("Host: \r\n"),
    "HTTP/1.0 without a Host": "GET /widgets HTTP/1.0\r\n\r\n",
    CONNECT: `CONNECT service:80 HTTP/1.1\r\n${HOST}\r\n`,
  };
  for (const [name, bytes] of Object.entries(table)) {
    test(`400 for ${name}`, async () => {
      const response = await rawRequest(gateway.url, bytes);
      expect(response.status).toBe(400);
      expect(JSON.parse(response.body.toString())).toMatchObject({
        error: { type: "invalid_request_error", code: "INVALID_REQUEST" },
      });
      expect(service.requests).toEqual([]);
    });
  }
});

describe("well-formed requests pass", () => {
  const table: Record<string, [bytes: string, body: string]> = {
    "chunk extensions, which are dropped": [post(CHUNKED, "3;a=b\r\nabc\r\n0\r\n\r\n"), "abc"],
    "chunk sizes in upper case": [post(CHUNKED, "A\r\n0123456789\r\n0\r\n\r\n"), "0123456789"],
    "several chunks": [post(CHUNKED, "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), "abcde"],
    "a tab before chunked": [post("Transfer-Encoding:\tchunked\r\n", "3\r\nabc\r\n0\r\n\r\n"), "abc"],
    "chunked in upper case": [post("Transfer-Encoding: CHUNKED\r\n", "3\r\nabc\r\n0\r\n\r\n"), "abc"],
    "a length with leading zeros": [post("Content-Length: 003\r\n", "abc"), "abc"],
    "a body of no bytes": [post("Content-Length: 0\r\n", ""), ""],
    "no body at all": [post("", ""), ""],
    "a request target in absolute form": [`GET http://elsewhere.test/widgets HTTP/1.1\r\n${HOST}\r\n`, ""],
    "HTTP/1.0": [`GET /widgets HTTP/1.0\r\n${HOST}\r\n`, ""],
    "bytes above ASCII in a header": [get(`${HOST}X-A: \xc3\xa9\r\n`), ""],
    "an upgrade that is not WebSocket, which is ignored": [
      get(`${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n`),
      "",
    ],
  };
  for (const [name, [bytes, body]] of Object.entries(table)) {
    test(name, async () => {
      const response = await rawRequest(gateway.url, bytes);
      expect(response.status).toBe(200);
      expect(service.request.target).toBe("/widgets");
      expect(service.request.body.toString()).toBe(body);
      expect(service.request.head).not.toMatch(/upgrade|http2-settings/i);
    });
  }
});

// GW-11
describe("the body of a request that the gateway refuses is never parsed as a request", () => {
  const accepted: [name: string, status: number, head: string, length: number][] = [
    ["too large", 413, "POST /widgets", BODY_BYTES_MAX + HIDDEN.length],
    ["unmatched", 404, "POST /nowhere", HIDDEN.length],
    ["a path that is not a route, with an escaped slash", 404, "POST /widgets/%2f", HIDDEN.length],
  ];
  for (const [name, status, start, length] of accepted) {
    test(name, async () => {
      const client = await RawClient.connect(gateway.url);
      const body = HIDDEN.padEnd(length, "x");
      client.send(`${start} HTTP/1.1\r\n${HOST}Content-Length: ${length}\r\n\r\n`);
      const response = await client.response();
      expect(response.status).toBe(status);
      client.send(body);
      if (!client.closed) {
        client.send(spell("GET", "/widgets"));
        await client.response().catch(() => {});
      }
      expect(service.requests.map((request) => request.target)).not.toContain("/hidden");
      client.destroy();
    });
  }

  test("the body of a GET is dropped, and never parsed as a request", async () => {
    const response = await rawRequest(
      gateway.url,
      spell("GET", "/widgets", { "Content-Length": String(HIDDEN.length) }, HIDDEN),
    );
    expect(response.status).toBe(200);
    expect(service.request.target).toBe("/widgets");
    expect(service.request.head).not.toMatch(/content-length|transfer-encoding/i);
  });
});

// GW-11
test("consecutive requests on one connection stay separate, including their bodies", async () => {
  service.handler = (request) =>
    `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${request.body.length}\r\n\r\n${request.body}`;
  const client = await RawClient.connect(gateway.url);
  for (const body of ["first", HIDDEN, "", "0\r\n\r\n"]) {
    client.send(spell("POST", "/widgets", { "Content-Length": String(body.length) }, body));
    const response = await client.response();
    expect(response.body.toString()).toBe(body);
  }
  expect(service.requests.map((request) => request.body.toString())).toEqual([
    "first",
    HIDDEN,
    "",
    "0\r\n\r\n",
  ]);
  client.destroy();
});
