/**
 * Tests calls to the identity service and the audit service. The connection pool and the runtime's fetch must
 * give the same guarantees.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type BoundedCall,
  boundedCall,
  type CallTransport,
  fetchTransport,
} from "@ostiary/lib/runtime/bounded-call";
import { peerClient } from "../../../../apps/gateway/upstream/peer-client.ts";
import { headerValue, OK, RawUpstream } from "../../../support/http/raw-http.ts";
import { freePort, rejection, waitFor } from "../../../support/index.ts";

const TOO_LARGE = 512 * 1024 + 1;

let peer: RawUpstream;
beforeEach(() => {
  peer = new RawUpstream(() => OK);
});
afterEach(() => peer.close());

const transports: [name: string, make: () => CallTransport][] = [
  ["the pool", () => peerClient("http://127.0.0.1")],
  ["fetch", () => fetchTransport],
];

// GW-56
describe.each(transports)("a call over %s", (_, make) => {
  const call = (options: Partial<BoundedCall> = {}, transport = make()) =>
    boundedCall(
      { method: "POST", url: `${peer.url}/internal/x?y=z`, timeoutMs: 5_000, ...options },
      transport,
    );

  test.each(["POST", "PATCH"] as const)(
    "sends the body of a %s with its length, and the headers",
    async (method) => {
      const response = await call({ method, headers: { "content-type": "application/json" }, body: '"é"' });
      expect(response).toEqual({ status: 200, text: "ok" });
      const { head, headers, body } = peer.request;
      expect(head).toStartWith(`${method} /internal/x?y=z HTTP/1.1\r\n`);
      expect(headerValue(headers, "content-length")).toBe("4");
      expect(headerValue(headers, "content-type")).toBe("application/json");
      expect(body.toString()).toBe('"é"');
    },
  );

  test.each(["POST", "PATCH"] as const)("reuses a connection for a %s", async (method) => {
    const transport = make();
    for (let nth = 0; nth < 5; nth++) await call({ method, body: "{}" }, transport);
    expect(peer.sockets).toHaveLength(1);
  });

  test("reads a chunked response with a chunk boundary inside a character", async () => {
    const text = Buffer.from("€uro");
    peer.handler = async (_request, socket) => {
      socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n");
      socket.send(text.subarray(0, 1));
      await waitFor(() => socket.flushed);
      socket.send(`\r\n5\r\n`);
      socket.send(text.subarray(1));
      socket.send("\r\n0\r\n\r\n");
      return null;
    };
    expect(await call()).toEqual({ status: 200, text: "€uro" });
  });

  test("returns a redirect without following it", async () => {
    peer.handler = () => "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n";
    expect(await call()).toEqual({ status: 302, text: "" });
    expect(peer.requests).toHaveLength(1);
  });

  test.each([
    ["with a Content-Length", `HTTP/1.1 200 OK\r\nContent-Length: ${TOO_LARGE}\r\n\r\n`, ""],
    [
      "chunked",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${TOO_LARGE.toString(16)}\r\n`,
      "\r\n0\r\n\r\n",
    ],
  ])("refuses a response over 512 KiB, %s", async (_what, head, end) => {
    peer.handler = () => head + "x".repeat(TOO_LARGE) + end;
    expect(await rejection(call())).toMatchObject({
      name: "CallFailed",
      message: "the response exceeds 524288 bytes",
      sent: true,
    });
  });

  test.each([
    ["begin", ""],
    ["end", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"],
  ])("fails if the response does not %s in time, and closes the connection", async (_what, begun) => {
    peer.handler = (_request, socket) => {
      if (begun !== "") socket.send(begun);
      return null;
    };
    expect(await rejection(call({ timeoutMs: 100, repeatable: true }))).toMatchObject({
      message: "no response within 100 ms",
      sent: true,
    });
    expect(peer.requests).toHaveLength(1);
    await waitFor(() => peer.open === 0);
  });

  test("that cannot connect fails as not sent", async () => {
    const nobody = `http://127.0.0.1:${freePort()}/`;
    expect(await rejection(call({ url: nobody, repeatable: true }))).toMatchObject({
      message: expect.stringMatching(/^(ECONNREFUSED|ConnectionRefused)$/),
      sent: false,
      broken: false,
    });
    const unknown = await rejection(call({ url: "http://nobody.invalid/" }));
    expect(unknown).toMatchObject({ name: "CallFailed", sent: false });
  });

  describe("whose reused connection closes during the call", () => {
    /**
     * Makes one call, which leaves an idle connection. After that, the peer closes each connection that
     * `isEnded` selects when a request arrives. `isEnded` gets 0 for the first connection, 1 for the next,
     * and so on.
     */
    async function kept(isEnded: (connection: number) => boolean) {
      const transport = make();
      await call({}, transport);
      const [{ connection: first } = { connection: 0 }] = peer.requests;
      peer.requests.length = 0;
      peer.handler = ({ connection }, socket) => {
        if (!isEnded(connection - first)) return OK;
        socket.end();
        return null;
      };
      return transport;
    }

    test("is not retried if it is a POST", async () => {
      const transport = await kept(() => true);
      expect(await rejection(call({ method: "POST", body: "{}" }, transport))).toMatchObject({
        sent: true,
        broken: true,
      });
      expect(peer.requests).toHaveLength(1);
    });

    test("is retried once over a new connection if it is repeatable", async () => {
      const transport = await kept((connection) => connection === 0);
      expect(await call({ repeatable: true }, transport)).toEqual({ status: 200, text: "ok" });
      const [first, second] = peer.requests.map(({ connection }) => connection);
      expect(second).toBe((first ?? 0) + 1);
    });

    test("is retried over a new connection, not over another idle one", async () => {
      const transport = make();
      const { promise: both, resolve: bothCame } = Promise.withResolvers<string>();
      peer.handler = () => {
        if (peer.requests.length === 2) bothCame(OK);
        return both;
      };
      await Promise.all([call({}, transport), call({}, transport)]);
      const kept = new Set(peer.requests.map(({ connection }) => connection));
      expect(kept.size).toBe(2);
      peer.handler = ({ connection }, socket) => {
        if (!kept.has(connection)) return OK;
        socket.end();
        return null;
      };
      expect(await call({ repeatable: true }, transport)).toEqual({ status: 200, text: "ok" });
    });

    test("is sent twice at most", async () => {
      const transport = await kept(() => true);
      expect(await rejection(call({ repeatable: true }, transport))).toMatchObject({ broken: true });
      expect(peer.requests).toHaveLength(2);
    });
  });
});
