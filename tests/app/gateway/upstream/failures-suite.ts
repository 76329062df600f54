import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { OK, type RawRequest, type RawSocket, RawUpstream } from "../../../support/http/raw-http.ts";
import { freePort, rejection, waitFor } from "../../../support/index.ts";
import { begin, type ClientUnderTest, call, PushedBody, sourceOf } from "./client-bed.ts";

const HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/** Responses that both clients refuse, by the method of the request. */
const REFUSED: [what: string, method: string, response: string][] = [
  ["status 099", "GET", "HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\nok"],
  ["status 600", "GET", "HTTP/1.1 600 X\r\nContent-Length: 2\r\n\r\nok"],
  ["two lengths", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n"],
  ["a 204 with a length", "GET", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n"],
];

/** Tests how a client handles connections that break, and when it retries. */
export function describeFailures({ name, make, isStrict }: ClientUnderTest): void {
  const client = make();
  /**
   * The service of the current test. Each test gets a new one, so that no test reuses connections of another.
   */
  let service: RawUpstream;
  beforeEach(() => {
    service = new RawUpstream();
  });
  afterEach(() => service.close());
  afterAll(() => client.closeIdle());

  // GW-103, GW-166
  test.each(REFUSED)(`${name} refuses %s in a response to %s`, async (_, method, response) => {
    service.handler = () => response;
    expect(await rejection(call(client, service, { method }))).toBeInstanceOf(Error);
    // fetch keeps the connection of a response that it has read whole
    if (isStrict) await waitFor(() => service.open === 0);
  });

  // GW-166
  test.if(isStrict)(`${name} closes the connection of a malformed response, and does not retry`, async () => {
    service.handler = () => "HTTP/1.1 200 OK\nX-A: 1\nContent-Length: 2\n\nok";
    const failure = await rejection(call(client, service));
    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).not.toContain("X-A");
    expect(service.requests.length).toBe(1);
    await waitFor(() => service.open === 0);
    service.handler = () => OK;
    expect(await call(client, service)).toMatchObject({ status: 200, text: "ok" });
  });

  /** Makes the service send these bytes and then end the connection. */
  const breaksOff = (bytes: string, end: (socket: RawSocket) => void) => {
    service.handler = (_, socket) => {
      socket.send(bytes);
      end(socket);
      return null;
    };
  };
  const orderly = (socket: RawSocket) => socket.end();
  const reset = (socket: RawSocket) => socket.destroy();

  describe(`${name} fails a request`, () => {
    test("with an error code if the port is closed", async () => {
      const failure = await rejection(call(client, { port: freePort() }, { method: "POST" }));
      expect(failure).toMatchObject({ code: expect.stringMatching(/^(ECONNREFUSED|ConnectionRefused)$/) });
    });

    test.each([
      ["before the response", "", orderly],
      ["within the status line, by a reset", "HTTP/1.1 20", reset],
      ["within the head", "HTTP/1.1 200 OK\r\nContent-Le", orderly],
      ["after an interim response", "HTTP/1.1 103 Early Hints\r\n\r\n", orderly],
    ] as const)("when the connection ends %s", async (_, bytes, end) => {
      breaksOff(bytes, end);
      expect(await rejection(call(client, service, { method: "POST" }))).toBeInstanceOf(Error);
      expect(service.requests.length).toBe(1);
    });

    const endings = [
      ["within a body", `${HEAD}he`, orderly],
      ["within a body, by a reset", `${HEAD}he`, reset],
      ["within a chunk", `${CHUNKED}5\r\nhe`, orderly],
      ["within a chunk, by a reset", `${CHUNKED}5\r\nhe`, reset],
      ["between two chunks", `${CHUNKED}2\r\nhe\r\n`, orderly],
      ["within a chunk size", `${CHUNKED}2\r\nhe\r\n5`, orderly],
    ] as const;
    const strictEndings = [
      ["before the end of the trailers", `${CHUNKED}2\r\nhe\r\n0\r\nX-A: 1\r\n`, orderly],
      ["within a body without length, by a reset", "HTTP/1.1 200 OK\r\n\r\nhe", reset],
    ] as const;

    // GW-117, GW-168
    test.each([...endings, ...(isStrict ? strictEndings : [])])(
      "or its response body if the connection ends %s",
      async (_, bytes, end) => {
        service.handler = async (_request, socket) => {
          socket.send(bytes);
          await waitFor(() => socket.flushed);
          // Wait until the client has read these bytes.
          await started;
          end(socket);
          return null;
        };
        const { promise: started, resolve: start } = Promise.withResolvers<void>();
        const source = sourceOf(await begin(client, service, { method: "POST" }).response);
        expect(Buffer.from((await source.next()) ?? []).toString()).toBe("he");
        const next = source.next();
        start();
        expect(await rejection(next)).toBeInstanceOf(Error);
      },
    );

    test("if its own body breaks off, and the service does not take the body for complete", async () => {
      const source = new PushedBody();
      const body = { source, length: 1_000 };
      const { response } = begin(client, service, { method: "POST", body });
      source.push("abc");
      await waitFor(() => service.sockets.at(-1)?.received.includes("abc"));
      source.end();
      expect(await rejection(response)).toBeInstanceOf(Error);
      await waitFor(() => service.open === 0);
      expect(service.requests.length).toBe(0);
    });
  });

  // GW-124
  describe(`${name}, if a kept-alive connection closes before the first byte of a response,`, () => {
    /**
     * Makes the service respond to the first request of each connection, and end the connection at the
     * second.
     */
    const dies = (end: (socket: RawSocket) => void, bytes = "") => {
      const used = new Set<number>();
      service.handler = ({ connection }: RawRequest, socket) => {
        if (!used.has(connection)) {
          used.add(connection);
          return OK;
        }
        socket.send(bytes);
        end(socket);
        return null;
      };
    };

    test.each([
      ["GET", "ended", orderly] as const,
      ["GET", "reset", reset] as const,
      ["HEAD", "reset", reset] as const,
    ])("retries a %s over a new connection (%s)", async (method, _, end) => {
      dies(end);
      await call(client, service);
      expect(await call(client, service, { method })).toMatchObject({ status: 200 });
      const [first = 0] = service.requests.map(({ connection }) => connection);
      expect(service.requests.map(({ connection }) => connection)).toEqual([first, first, first + 1]);
    });

    test.each(["POST", "PUT", "PATCH", "DELETE"])("never retries a %s", async (method) => {
      for (const body of ["", "body"]) {
        dies(method === "POST" ? orderly : reset);
        await call(client, service);
        const sent = service.requests.length;
        const failure = await rejection(call(client, service, { method, ...(body !== "" && { body }) }));
        expect(failure).toBeInstanceOf(Error);
        expect(service.requests.length).toBe(sent + 1);
      }
    });

    test.if(isStrict)("does not retry after the first byte of a response", async () => {
      dies(orderly, "H");
      await call(client, service);
      expect(await rejection(call(client, service))).toBeInstanceOf(Error);
      expect(service.requests.length).toBe(2);
    });

    test.each([["ended", orderly] as const, ["reset", reset] as const])(
      "does not retry if a new connection closes (%s)",
      async (_, end) => {
        breaksOff("", end);
        expect(await rejection(call(client, service))).toBeInstanceOf(Error);
        expect(service.requests.length).toBe(1);
      },
    );

    test("retries only once: a service that closes every connection is not called forever", async () => {
      await call(client, service);
      breaksOff("", orderly);
      expect(await rejection(call(client, service))).toBeInstanceOf(Error);
      expect(service.requests.length).toBeLessThanOrEqual(3);
    });

    test("does not retry a canceled request", async () => {
      await call(client, service);
      service.handler = () => null;
      const { response, abort } = begin(client, service);
      await waitFor(() => service.requests.length === 2);
      abort();
      expect(await rejection(response)).toBeInstanceOf(Error);
      await waitFor(() => service.open === 0);
      expect(service.requests.length).toBe(2);
    });
  });
}
