/**
 * Tests attacks on the translation from HTTP/2 to HTTP/1.1. The content of a field or body must never become
 * a request line, a header or a new request at the service. The tables follow the published classes of
 * attacks: H2.CL, H2.TE, header injection, request splitting, and ambiguous targets and hosts.
 */

import { describe, expect, test } from "bun:test";
import {
  type Attack,
  attacked,
  beside,
  HIDDEN,
  posted,
  STREAMED_BYTES,
  send,
  useHttp2Gateway,
  without,
} from "../../support/gateway-http2-bed.ts";
import { headerValue, type RawHeaders } from "../../support/raw-http.ts";
import {
  dataFrames,
  ErrorCode,
  headersFrames,
  RawHttp2Client,
  requestFields,
} from "../../support/raw-http2.ts";

const gateway = useHttp2Gateway();
const { service } = gateway;

/**
 * Sends an honest request from another client. Expects that the service got this request, and no request or
 * header that an attack hid.
 */
async function expectNothingHidden(): Promise<void> {
  const honest = await RawHttp2Client.connect(gateway.url);
  const answer = await honest.request(1, { fields: [["x-honest", "1"]] });
  honest.destroy();
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: "ok" });
  expect(service.requests.filter(({ target }) => target !== "/widgets")).toEqual([]);
  expect(service.requests.filter(({ head }) => /hidden|injected/i.test(head))).toEqual([]);
  expect(headerValue(service.requests.at(-1)?.headers ?? [], "x-honest")).toBe("1");
}

// GW-10, GW-172
describe("a request that HTTP/1.1 cannot express resets its stream, and no part of it reaches the service", () => {
  const table: Record<string, Attack> = {
    "H2.TE: chunked": posted([["transfer-encoding", "chunked"]], `0\r\n\r\n${HIDDEN}`),
    "H2.TE: chunked beside a length": posted(
      [
        ["content-length", "60"],
        ["transfer-encoding", "chunked"],
      ],
      `0\r\n\r\n${HIDDEN}`.padEnd(60),
    ),
    "H2.TE: identity": posted([["transfer-encoding", "identity"]], HIDDEN),
    "H2.TE: a value that begins with a space": posted(
      [["transfer-encoding", " chunked"]],
      `0\r\n\r\n${HIDDEN}`,
    ),
    "H2.TE: a name with a space": posted([["transfer-encoding ", "chunked"]], `0\r\n\r\n${HIDDEN}`),
    "H2.TE: a name in upper case": posted([["Transfer-Encoding", "chunked"]], `0\r\n\r\n${HIDDEN}`),
    "H2.CL: two equal lengths": posted(
      [
        ["content-length", "3"],
        ["content-length", "3"],
      ],
      "abc",
    ),
    "H2.CL: two different lengths": posted(
      [
        ["content-length", "3"],
        ["content-length", String(3 + HIDDEN.length)],
      ],
      `abc${HIDDEN}`,
    ),
    "H2.CL: a list of lengths": posted([["content-length", "3, 3"]], "abc"),
    "H2.CL: a length with a sign": posted([["content-length", "+3"]], "abc"),
    "H2.CL: a negative length": posted([["content-length", "-3"]], "abc"),
    "H2.CL: a hexadecimal length": posted([["content-length", "0x3"]], "abc"),
    "H2.CL: an empty length": posted([["content-length", ""]], "abc"),
    "H2.CL: a length that begins with a space": posted([["content-length", " 3"]], "abc"),
    "H2.CL: a length past 64 bits": posted([["content-length", "18446744073709551619"]], "abc"),
    connection: attacked([["connection", "close"]]),
    "connection that names a field": attacked([["connection", "x-request-id"]]),
    "keep-alive": attacked([["keep-alive", "timeout=5"]]),
    "proxy-connection": attacked([["proxy-connection", "keep-alive"]]),
    upgrade: attacked([["upgrade", "websocket"]]),
    "te other than trailers": attacked([["te", "gzip"]]),
    "te with more than trailers": attacked([["te", "trailers, gzip"]]),
    "CR and LF in a value": attacked([["x-a", "1\r\ninjected: 1"]]),
    "a request in a value": attacked([["x-a", `1\r\n\r\n${HIDDEN}`]]),
    "Transfer-Encoding injected by a value": posted(
      [["x-a", "1\r\nTransfer-Encoding: chunked"]],
      `0\r\n\r\n${HIDDEN}`,
    ),
    "CR in a value": attacked([["x-a", "1\rinjected: 1"]]),
    "LF in a value": attacked([["x-a", "1\ninjected: 1"]]),
    "NUL in a value": attacked([["x-a", "1\0"]]),
    "a control byte in a value": attacked([["x-a", "1\x01"]]),
    "a value that begins with a space": attacked([["x-a", " 1"]]),
    "a value that ends with a tab": attacked([["x-a", "1\t"]]),
    "CR and LF in a name": attacked([["x-a: 1\r\ninjected", "1"]]),
    "a request in a name": attacked([[`x-a: 1\r\n\r\n${HIDDEN}x-b`, "1"]]),
    "a colon in a name": attacked([["injected: 1", "1"]]),
    "a space in a name": attacked([["x a", "1"]]),
    "NUL in a name": attacked([["x\0a", "1"]]),
    "a byte above ASCII in a name": attacked([["x\xe9", "1"]]),
    "upper case in a name": attacked([["X-A", "1"]]),
    "a request in :method": { spelling: { method: `GET /hidden HTTP/1.1\r\nHost: x\r\n\r\nGET` } },
    "a target in :method": { spelling: { method: "GET /hidden" } },
    "an empty :method": { spelling: { method: "" } },
    "a request in :path": { spelling: { path: `/widgets HTTP/1.1\r\nHost: x\r\n\r\n${HIDDEN}` } },
    "a version in :path": { spelling: { path: "/hidden HTTP/1.1" } },
    "a tab in :path": { spelling: { path: "/widgets\t/hidden" } },
    "NUL in :path": { spelling: { path: "/widgets\0" } },
    "a space in the query": { spelling: { path: "/widgets?a b" } },
    "a :path without a slash": { spelling: { path: "hidden" } },
    "an empty :path": { spelling: { path: "" } },
    "a query alone in :path": { spelling: { path: "?hidden" } },
    "an absolute URL in :path": { spelling: { path: "http://gateway.test/hidden" } },
    "* in :path of GET": { spelling: { path: "*" } },
    "CR and LF in :authority": { spelling: { authority: "gateway.test\r\ninjected: 1" } },
    "a user in :authority": { spelling: { authority: "user@gateway.test" } },
    "an empty :authority": { spelling: { authority: "" } },
    "CR and LF in :scheme": { spelling: { scheme: "http\r\ninjected: 1" } },
    "an empty :scheme": { spelling: { scheme: "" } },
    "two :method": beside([":method", "POST"]),
    "two :path": beside([":path", "/hidden"]),
    "two :authority": beside([":authority", "hidden.test"]),
    "two :scheme": beside([":scheme", "https"]),
    "no :method": without(":method"),
    "no :path": without(":path"),
    "no :scheme": without(":scheme"),
    "neither :authority nor Host": without(":authority"),
    "a Host that differs": attacked([["host", "hidden.test"]]),
    "a Host that differs in its port": attacked([["host", "gateway.test:8080"]]),
    "two Hosts": without(":authority", ["host", "gateway.test"], ["host", "hidden.test"]),
    "a pseudo-header field behind others": { fields: [["x-a", "1"], ...requestFields()] },
    "an unknown pseudo-header field": attacked([[":hidden", "1"]]),
    "a pseudo-header field of responses": attacked([[":status", "200"]]),
    "CONNECT with a path": { spelling: { method: "CONNECT" } },
    "a WebSocket by extended CONNECT": {
      spelling: { method: "CONNECT", fields: [[":protocol", "websocket"]] },
    },
    "a pseudo-header field in trailers": { ...posted([], "abc"), trailers: [[":path", "/hidden"]] },
    "fewer bytes than announced": posted([["content-length", "5"]], "abc"),
    "more bytes than announced": posted([["content-length", "3"]], `abc${HIDDEN}`),
    "more bytes than announced, in a later frame": posted([["content-length", "3"]], "abc", HIDDEN),
    "fewer bytes than announced, before trailers": {
      ...posted([["content-length", "5"]], "abc"),
      trailers: [["x-a", "1"]],
    },
    "no bytes of those announced": posted([["content-length", "5"]], ""),
  };
  for (const [name, attack] of Object.entries(table)) {
    test(name, async () => {
      const client = await RawHttp2Client.connect(gateway.url);
      expect(await send(client, attack)).toEqual({
        status: null,
        body: "",
        reset: ErrorCode.protocol,
        complete: false,
      });
      expect(service.requests).toEqual([]);
      // Only the stream was reset, so the connection still serves other streams.
      const { status } = await client.request(3);
      expect(status).toBe(200);
      client.destroy();
      await expectNothingHidden();
    });
  }

  test("a field with an empty name closes the connection", async () => {
    const client = await RawHttp2Client.connect(gateway.url);
    await send(client, attacked([["", "1"]]));
    await client.untilClosed();
    expect(service.requests).toEqual([]);
    await expectNothingHidden();
  });
});

// GW-6, GW-17
describe("a request with an invalid host, target or method is refused", () => {
  const table: Record<string, [attack: Attack, status: number]> = {
    "a space in :authority": [{ spelling: { authority: "gateway test" } }, 400],
    "a path in :authority": [{ spelling: { authority: "gateway.test/hidden" } }, 400],
    "a query in :authority": [{ spelling: { authority: "gateway.test?hidden" } }, 400],
    "a fragment in :authority": [{ spelling: { authority: "gateway.test#hidden" } }, 400],
    "a backslash in :authority": [{ spelling: { authority: "gateway.test\\hidden" } }, 400],
    "a list in :authority": [{ spelling: { authority: "gateway.test,hidden.test" } }, 400],
    "a port past 65535 in :authority": [{ spelling: { authority: "gateway.test:99999" } }, 400],
    "an escaped slash in :authority": [{ spelling: { authority: "gateway.test%2fhidden" } }, 400],
    "a byte above ASCII in :authority": [{ spelling: { authority: "gateway\xe9.test" } }, 400],
    "two slashes in :path": [{ spelling: { path: "//hidden" } }, 404],
    TRACE: [{ spelling: { method: "TRACE" } }, 404],
    QUERY: [{ spelling: { method: "QUERY" } }, 404],
    CONNECT: [
      {
        fields: [
          [":method", "CONNECT"],
          [":authority", "service:80"],
        ],
      },
      404,
    ],
    "a method in lower case": [{ spelling: { method: "get" } }, 501],
    "an unknown method": [{ spelling: { method: "SMUGGLE" } }, 501],
  };
  for (const [name, [attack, status]] of Object.entries(table)) {
    test(`${status} for ${name}`, async () => {
      const client = await RawHttp2Client.connect(gateway.url);
      const end = await send(client, attack);
      expect({ status: end.status, complete: end.complete }).toEqual({ status, complete: true });
      expect(service.requests).toEqual([]);
      client.destroy();
      await expectNothingHidden();
    });
  }
});

// GW-171
describe("a streamed body is complete at the service only if it has the announced length", () => {
  const length: RawHeaders = [["content-length", String(STREAMED_BYTES)]];
  const table: Record<string, Attack> = {
    "one byte too few": posted(length, "x".repeat(STREAMED_BYTES - 1), ""),
    "one byte too many": posted(length, "x".repeat(STREAMED_BYTES + 1)),
    "a request after the announced bytes": posted(length, "x".repeat(STREAMED_BYTES), HIDDEN),
    "a request across the announced end": posted(length, "x".repeat(STREAMED_BYTES - 10), HIDDEN),
  };
  for (const [name, attack] of Object.entries(table)) {
    test(name, async () => {
      const client = await RawHttp2Client.connect(gateway.url);
      const end = await send(client, attack);
      expect({ status: end.status, reset: end.reset }).toEqual({ status: null, reset: ErrorCode.protocol });
      client.destroy();
      await expectNothingHidden();
      // The service recorded only the honest request, so it never got the attack as a complete request.
      expect(service.requests.length).toBe(1);
    });
  }

  test("the last byte waits for the end of the stream", async () => {
    const client = await RawHttp2Client.connect(gateway.url);
    client.send(headersFrames(1, requestFields({ method: "POST", fields: length }), 0));
    client.send(dataFrames(1, "x".repeat(STREAMED_BYTES), false));
    await client.synced();
    await expectNothingHidden();
    expect(service.requests.length).toBe(1);
    client.send(dataFrames(1, "", true));
    expect((await client.end(1)).status).toBe(200);
    expect(service.requests.at(-1)?.body.length).toBe(STREAMED_BYTES);
    client.destroy();
  });
});

// GW-171
describe("body bytes that the gateway drops are never parsed as a request", () => {
  const table: Record<string, Attack> = {
    "H2.CL: a body with a length of 0": posted([["content-length", "0"]], HIDDEN),
    "a body of GET": { spelling: { fields: [["content-length", String(HIDDEN.length)]] }, bodies: [HIDDEN] },
    "a body of GET that is longer than announced": {
      spelling: { fields: [["content-length", "1"]] },
      bodies: [HIDDEN],
    },
    "a body of HEAD": { spelling: { method: "HEAD" }, bodies: [HIDDEN] },
    "a body of a request that matches no route": {
      spelling: { method: "POST", path: "/nowhere" },
      bodies: [HIDDEN],
    },
  };
  for (const [name, attack] of Object.entries(table)) {
    test(name, async () => {
      const client = await RawHttp2Client.connect(gateway.url);
      await send(client, attack);
      client.destroy();
      await expectNothingHidden();
      for (const { headers, body } of service.requests) {
        expect(body.toString()).toBe("");
        expect(headerValue(headers, "content-length") ?? "0").toBe("0");
      }
    });
  }
});
