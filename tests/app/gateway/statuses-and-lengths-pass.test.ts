/** Tests that the gateway does not change the meaning of statuses and bodies (GW-94, GW-99). */
import { describe, expect, test } from "bun:test";
import { WidgetsBed } from "../../support/gateway/widgets-bed.ts";
import { headerValue, headerValues, OK, rawRequest, spell } from "../../support/http/raw-http.ts";
import { useBed } from "./bed.ts";

const bed = useBed(new WidgetsBed());
const { service, gateway } = bed;

describe("bodies keep their meaning", () => {
  // GW-99
  test("a response to HEAD keeps the service's length, and the connection stays open", async () => {
    service.handler = () => "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 70000\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("HEAD", "/widgets"));
    expect(response).toMatchObject({ status: 200, complete: true });
    expect(headerValue(response.headers, "content-length")).toBe("70000");
  });

  // GW-99
  test("304 keeps its length and validator, and has no body", async () => {
    service.handler = () => 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 500\r\n\r\n';
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response).toMatchObject({ status: 304, complete: true });
    expect(headerValue(response.headers, "content-length")).toBe("500");
    expect(headerValue(response.headers, "etag")).toBe('"x"');
  });

  // GW-99
  test.each([
    ["DELETE", ""],
    ["DELETE", "Content-Length: 0\r\n"],
    ["HEAD", "Content-Length: 0\r\n"],
  ])("204 to a %s has no body and no length: %j", async (method, length) => {
    service.handler = () => `HTTP/1.1 204 No Content\r\n${length}\r\n`;
    const response = await rawRequest(gateway.url, spell(method, "/widgets"));
    expect(response.status).toBe(204);
    expect(headerValues(response.headers, "content-length")).toEqual([]);
  });

  // GW-94
  test("redirects are forwarded, never followed", async () => {
    service.handler = () =>
      "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response.status).toBe(307);
    expect(headerValue(response.headers, "location")).toBe("/elsewhere");
    expect(service.requests.length).toBe(1);
  });

  // GW-102
  test("a 103 is not forwarded, but the final response is", async () => {
    service.handler = () => `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${OK}`;
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response.status).toBe(200);
    expect(response.body.toString()).toBe("ok");
  });
});

// GW-98
describe("bytes pass unchanged with any Content-Encoding and framing:", () => {
  const text = "widgets ".repeat(40_000);
  const codings = {
    gzip: Bun.gzipSync(text),
    "br, unheard-of": Buffer.from(text),
  };
  for (const [coding, body] of Object.entries(codings)) {
    for (const framing of ["length", "chunked"] as const) {
      test(`${coding}, ${framing}`, async () => {
        service.handler = (_, socket) => {
          const size = framing === "length" ? `Content-Length: ${body.length}` : "Transfer-Encoding: chunked";
          socket.send(
            `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Type: text/plain\r\n${size}\r\n\r\n`,
          );
          if (framing === "chunked") socket.send(`${body.length.toString(16)}\r\n`);
          socket.send(body);
          return framing === "chunked" ? "\r\n0\r\n\r\n" : null;
        };
        const response = await rawRequest(
          gateway.url,
          spell("GET", "/widgets", { "Accept-Encoding": coding }),
        );
        expect(headerValue(response.headers, "content-encoding")).toBe(coding);
        expect(response.body.equals(Buffer.from(body))).toBe(true);
      });
    }
  }
});

// GW-100
test("a body of known length up to 64 KiB keeps its Content-Length, and longer ones arrive completely", async () => {
  for (const length of [0, 1, 65_535, 65_536, 65_537, 200_000]) {
    const body = "y".repeat(length);
    service.handler = () =>
      `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n\r\n${body}`;
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response.body.toString()).toBe(body);
    if (length <= 65_536) expect(headerValue(response.headers, "content-length")).toBe(String(length));
  }
});

// GW-102
test("trailers are dropped, and the response ends cleanly", async () => {
  service.handler = () =>
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n";
  const response = await rawRequest(gateway.url, spell("GET", "/widgets", { TE: "trailers" }));
  expect(response).toMatchObject({ status: 200, complete: true });
  expect(response.body.toString()).toBe("abc");
  expect(response.head).not.toMatch(/x-sum/i);
});
