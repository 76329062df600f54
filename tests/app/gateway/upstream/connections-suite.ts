import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { UpstreamClient } from "../../../../apps/gateway/upstream/upstream-client.ts";
import { OK, OK_CLOSE, RawUpstream } from "../../../support/http/raw-http.ts";
import { rejection, waitFor } from "../../../support/index.ts";
import { begin, type ClientUnderTest, call, PushedBody, sourceOf, whole } from "./client-bed.ts";

/** Tests when a client reuses a connection, and that each response belongs to its own request. */
export function describeConnections({ name, make, isStrict }: ClientUnderTest): void {
  let client: UpstreamClient;
  let service: RawUpstream;
  beforeEach(() => {
    client = make();
    service = new RawUpstream();
  });
  afterEach(() => {
    client.closeIdle();
    service.close();
  });
  /** Returns for each request, in order, which connection it came over, counted from 1. */
  const connections = () => service.requests.map(({ connection }) => connection);

  // GW-164
  describe(`${name} reuses a connection`, () => {
    test.each<[what: string, method: string, response: string]>([
      ["a body with Content-Length", "GET", OK],
      ["a chunked body", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"],
      ["an empty body", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"],
      ["204", "GET", "HTTP/1.1 204 No Content\r\n\r\n"],
      ["304", "GET", "HTTP/1.1 304 Not Modified\r\n\r\n"],
      ["an empty response to HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"],
      [
        "HTTP/1.0 with keep-alive",
        "GET",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
      ],
    ])("after %s", async (_, method, response) => {
      service.handler = () => response;
      for (let count = 0; count < 5; count++) await call(client, service, { method });
      expect(connections()).toEqual([1, 1, 1, 1, 1]);
    });

    // Skipped for fetch, which sometimes closes the connection after a request that it must not retry.
    test.if(isStrict).each(["PUT", "DELETE"])("after a %s without a body", async (method) => {
      for (let count = 0; count < 5; count++) await call(client, service, { method });
      expect(connections()).toEqual([1, 1, 1, 1, 1]);
    });

    test("after a streamed request body", async () => {
      for (let count = 0; count < 3; count++) {
        const source = new PushedBody();
        const { response } = begin(client, service, { method: "POST", body: { source, length: null } });
        source.push("abc");
        source.end();
        await whole(await response);
      }
      expect(connections()).toEqual([1, 1, 1]);
    });

    test("only for one request at a time: there are as many connections as requests in flight", async () => {
      const waiting: (() => void)[] = [];
      service.handler = (_, socket) => {
        waiting.push(() => socket.send(OK));
        return null;
      };
      for (let round = 0; round < 3; round++) {
        const calls = Array.from({ length: 50 }, () => call(client, service));
        await waitFor(() => waiting.length === 50);
        for (const respond of waiting.splice(0)) respond();
        expect((await Promise.all(calls)).every(({ text }) => text === "ok")).toBe(true);
      }
      expect(new Set(connections()).size).toBe(50);
      expect(service.sockets.length).toBe(50);
    });

    test("and each response goes to its own request", async () => {
      service.handler = async ({ target }) => {
        await Bun.sleep(0);
        return `HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`;
      };
      const calls = Array.from({ length: 100 }, async (_, index) => {
        const path = `/request/${index}`;
        expect((await call(client, service, { path })).text).toBe(path);
      });
      await Promise.all(calls);
    });
  });

  // GW-164
  describe(`${name} does not reuse a connection`, () => {
    test.each<[what: string, response: string]>([
      ["Connection: close", OK_CLOSE],
      [
        "close among other options",
        "HTTP/1.1 200 OK\r\nConnection: X-A, Close\r\nContent-Length: 2\r\n\r\nok",
      ],
      ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"],
    ])("after %s", async (_, response) => {
      service.handler = () => response;
      for (let count = 0; count < 3; count++) expect((await call(client, service)).text).toBe("ok");
      expect(connections()).toEqual([1, 2, 3]);
      await waitFor(() => service.open === 0);
    });

    test("after a request that was canceled before the response head", async () => {
      service.handler = () => null;
      const { response, abort } = begin(client, service);
      await waitFor(() => service.requests.length === 1);
      abort();
      await rejection(response);
      await waitFor(() => service.open === 0);
      service.handler = () => OK;
      expect((await call(client, service)).text).toBe("ok");
      expect(connections()).toEqual([1, 2]);
    });

    test("after a response whose body was not read to the end", async () => {
      service.handler = () => "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";
      const source = sourceOf(await begin(client, service).response);
      await source.next();
      source.cancel();
      await waitFor(() => service.open === 0);
      service.handler = () => OK;
      expect((await call(client, service)).text).toBe("ok");
    });

    test("and closes it at once when fifty requests are canceled under backpressure", async () => {
      service.handler = (_, socket) => {
        socket.send(`HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n${"a".repeat(1_048_576)}`);
        return null;
      };
      const calls = Array.from({ length: 50 }, () => begin(client, service));
      await Promise.all(calls.map(({ response }) => response));
      for (const { abort } of calls) abort();
      await waitFor(() => service.open === 0);
    });
  });

  test.if(isStrict)(`${name} closes idle connections on request`, async () => {
    await call(client, service);
    client.closeIdle();
    await waitFor(() => service.open === 0);
    expect((await call(client, service)).text).toBe("ok");
  });
}
