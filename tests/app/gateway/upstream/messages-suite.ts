import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { fieldValue } from "../../../../apps/gateway/upstream/upstream-client.ts";
import {
  headerValue,
  headerValues,
  OK,
  OK_CLOSE,
  type RawSocket,
  RawUpstream,
} from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/index.ts";
import {
  begin,
  type ClientUnderTest,
  call,
  MadeBody,
  PushedBody,
  sourceOf,
  textOf,
  untilSteady,
  whole,
} from "./client-bed.ts";

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/** Tests that a client transfers requests and responses unchanged, with backpressure in both directions. */
export function describeMessages({ name, make }: ClientUnderTest): void {
  const client = make();
  const service = new RawUpstream();
  /**
   * A service that calls its handler after the head of a request. A connection serves no further request
   * after a request with a body.
   */
  const streaming = new RawUpstream(() => OK, { atHead: true });
  afterAll(() => {
    client.closeIdle();
    service.close();
    streaming.close();
  });
  beforeEach(() => {
    service.requests.length = 0;
    service.handler = () => OK;
    streaming.requests.length = 0;
  });

  describe(`${name} sends`, () => {
    test.each(["GET", "POST", "HEAD"])("%s, path, query and Host unchanged", async (method) => {
      service.handler = () => "HTTP/1.1 204 No Content\r\n\r\n";
      expect((await call(client, service, { method, path: "/a/%2F?b=%20c&d" })).status).toBe(204);
      expect(service.request.start).toBe(`${method} /a/%2F?b=%20c&d HTTP/1.1`);
      expect(headerValue(service.request.headers, "host")).toBe(`127.0.0.1:${service.port}`);
      expect(service.request.body.byteLength).toBe(0);
    });

    test("every header with its value, and adds none that a service could act on", async () => {
      const fields = [
        "accept",
        "*/*",
        "accept-encoding",
        "br",
        "x-a",
        "a b;\t c",
        "x-latin",
        "\xe9",
        "user-agent",
        "u",
      ];
      await call(client, service, { fields });
      const sent = service.request.headers.map(([key, value]) => [key.toLowerCase(), value] as const);
      for (let index = 0; index < fields.length; index += 2) {
        expect(headerValues(sent, fields[index] ?? "")).toEqual([fields[index + 1] ?? ""]);
      }
      const own = sent.map(([key]) => key).filter((key) => !fields.includes(key));
      expect(own.filter((key) => key !== "connection").toSorted()).toEqual(["host"]);
    });

    test.each(["POST", "DELETE"])("a %s with a buffered body and length", async (method) => {
      await call(client, service, { method, body: "\x00\xff abc" });
      expect(headerValue(service.request.headers, "content-length")).toBe("6");
      expect(headerValue(service.request.headers, "transfer-encoding")).toBeNull();
      expect(service.request.body.toString("latin1")).toBe("\x00\xff abc");
    });

    test("a streamed body with its length", async () => {
      const source = new PushedBody();
      const { response } = begin(client, service, { method: "POST", body: { source, length: 6 } });
      source.push("abc");
      source.push("def");
      source.end();
      expect((await response).status).toBe(200);
      expect(headerValue(service.request.headers, "content-length")).toBe("6");
      expect(service.request.body.toString()).toBe("abcdef");
    });

    test("a streamed body of unknown length in chunks, each as soon as it comes", async () => {
      const source = new PushedBody();
      const { promise, resolve } = Promise.withResolvers<RawSocket>();
      streaming.handler = (_, socket) => {
        resolve(socket);
        return null;
      };
      const { response } = begin(client, streaming, { method: "POST", body: { source, length: null } });
      source.push("abc");
      const socket = await promise;
      await socket.until(() => socket.received.includes("3\r\nabc\r\n") || null, "The first piece");
      expect(headerValue(streaming.request.headers, "transfer-encoding")).toBe("chunked");
      source.push("de");
      source.end();
      await socket.until(() => socket.received.includes("2\r\nde\r\n0\r\n\r\n") || null, "The last piece");
      socket.send(OK_CLOSE);
      expect(await textOf((await response).body)).toBe("ok");
    });

    test.each(["PUT", "DELETE"])("a %s without a body, with no length or 0", async (method) => {
      await call(client, service, { method });
      expect(headerValue(service.request.headers, "transfer-encoding")).toBeNull();
      expect(headerValue(service.request.headers, "content-length") ?? "0").toBe("0");
    });

    test("only as much of a large body as the service reads", async () => {
      const source = new MadeBody(1_024);
      streaming.handler = (_, socket) => {
        socket.pause();
        return null;
      };
      const { abort } = begin(client, streaming, { method: "POST", body: { source, length: source.length } });
      await waitFor(() => streaming.requests.length === 1);
      await untilSteady(() => source.taken);
      expect(source.taken).toBeLessThan(512);
      abort();
    });
  });

  describe(`${name} returns`, () => {
    test.each([200, 206, 302, 418, 503, 599])("status %d", async (status) => {
      service.handler = () => `HTTP/1.1 ${status} Any\r\nLocation: /other\r\nContent-Length: 2\r\n\r\nok`;
      const response = await call(client, service);
      expect(response).toMatchObject({ status, text: "ok", length: 2 });
      expect(fieldValue(response.fields, "location")).toBe("/other");
      expect(service.requests.length).toBe(1);
    });

    test("header names in lower case with their values, and repeated headers in order", async () => {
      service.handler = () =>
        'HTTP/1.1 200 OK\r\nX-A:  a b\t\r\nSet-Cookie: a=1\r\nX-Latin: \xe9\xff\r\nset-cookie: b=2\r\nETag: "x"\r\nX-Empty:\r\nContent-Length: 0\r\n\r\n';
      const { fields } = await call(client, service);
      const valuesOf = (wanted: string) =>
        fields.filter((_, index) => index % 2 === 1 && fields[index - 1] === wanted);
      expect(valuesOf("x-a")).toEqual(["a b"]);
      expect(valuesOf("set-cookie")).toEqual(["a=1", "b=2"]);
      expect(valuesOf("x-latin")).toEqual(["\xe9\xff"]);
      expect(valuesOf("etag")).toEqual(['"x"']);
      expect(valuesOf("x-empty")).toEqual([""]);
    });

    // GW-168
    test.each([
      ["by its length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 5],
      ["chunked", `${CHUNKED}1\r\nh\r\n004;a=b\r\nello\r\n0\r\nX-T: 1\r\n\r\n`, null],
      ["up to the end of the connection", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", null],
      ["of HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", null],
    ] as const)("a body %s", async (_, response, length) => {
      service.handler = (_request, socket) => {
        socket.send(response);
        if (length === null && !response.startsWith(CHUNKED)) socket.end();
        return null;
      };
      expect(await call(client, service)).toMatchObject({ status: 200, text: "hello", length });
    });

    test.each([
      ["a response to HEAD, with its length", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 200, 5],
      ["a chunked response to HEAD", "HEAD", CHUNKED, 200, null],
      ["204", "GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, null],
      ["304, with its length", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, 5],
      ["an empty body", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, 0],
    ] as const)("%s as no body", async (_, method, sent, status, length) => {
      service.handler = () => sent;
      const response = await begin(client, service, { method }).response;
      expect(response).toMatchObject({ status, length });
      expect(response.body === null || (await textOf(response.body)) === "").toBe(true);
    });

    test("the head before the body, and each piece of the body as soon as it comes", async () => {
      service.handler = (_, socket) => {
        socket.send(CHUNKED);
        return null;
      };
      const response = await begin(client, service).response;
      const source = sourceOf(response);
      const socket = await waitFor(() => service.sockets.at(-1));
      for (const piece of ["a", "bc", "def"]) {
        socket.send(`${piece.length}\r\n${piece}\r\n`);
        expect(Buffer.from((await source.next()) ?? []).toString()).toBe(piece);
      }
      socket.send("0\r\n\r\n");
      expect(await source.next()).toBeUndefined();
    });

    test("only as much of a large body as its consumer reads", async () => {
      const size = 64 * 1_048_576;
      const piece = new Uint8Array(65_536);
      let sent = 0;
      service.handler = (_, socket) => {
        socket.onDrain = () => {
          for (; sent < size && socket.flushed; sent += piece.byteLength) socket.send(piece);
        };
        socket.send(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
        socket.onDrain();
        return null;
      };
      const source = sourceOf(await begin(client, service).response);
      await untilSteady(() => sent);
      expect(sent).toBeLessThan(size / 2);
      let read = 0;
      for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
        read += chunk.byteLength;
      }
      expect(read).toBe(size);
    });

    test("a response that comes while the request's body is still being sent", async () => {
      const source = new PushedBody();
      streaming.handler = () => "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig";
      const { response } = begin(client, streaming, { method: "POST", body: { source, length: 1_000_000 } });
      source.push("a");
      expect(await whole(await response)).toMatchObject({ status: 413, text: "big" });
      source.push("b");
      source.end();
      streaming.handler = () => OK;
      expect((await call(client, streaming)).text).toBe("ok");
      // The client opened a new connection for the GET, so the service cannot read the rest of the POST's
      // body as the GET.
      expect(streaming.requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
      expect(streaming.requests.map(({ connection }) => connection)).toEqual([
        streaming.sockets.length - 1,
        streaming.sockets.length,
      ]);
    });
  });
}
