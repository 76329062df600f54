/** Tests that the gateway streams bodies and never buffers a whole one (GW-111). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { useGateway, useService } from "../../../app/gateway/bed.ts";
import { publicService } from "../../../support/gateway/gateway.ts";
import {
  headerValue,
  OK,
  OK_CLOSE,
  pump,
  RawClient,
  type RawSocket,
  rawRequest,
  spell,
} from "../../../support/http/raw-http.ts";
import { settled, waitFor } from "../../../support/index.ts";

setDefaultTimeout(180_000);

const MIB = 1_048_576;
const BYTES = 128 * MIB;
/** The pause in an event stream. It is longer than the idle timeout of the gateway. */
const SILENCE_MS = 2_000;
const CHUNK = Buffer.alloc(65_536, "x");
/** A byte order mark. */
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

// GW-111
describe("streaming", () => {
  /** A service that calls its handler as soon as it has the head of a request. The body arrives later. */
  const service = useService({ atHead: true });
  const gateway = useGateway({ MAX_BODY_BYTES: "0", CLIENT_IDLE_TIMEOUT_MS: "1000" }, () => ({
    things: publicService(service.url, { path: "/things", methods: ["GET", "POST", "PUT", "HEAD"] }),
  }));

  const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
  const lengthHead = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${BYTES}\r\n\r\n`;
  const asChunk = Buffer.concat([Buffer.from("10000\r\n"), CHUNK, Buffer.from("\r\n")]);

  describe("a download", () => {
    for (const [name, head, part, end] of [
      ["of known length", lengthHead, CHUNK, ""],
      ["of unknown length", chunkedHead, asChunk, "0\r\n\r\n"],
    ] as const) {
      test(`${name} arrives completely`, async () => {
        service.handler = (_, socket) => {
          socket.send(head);
          pump(socket, part, BYTES / CHUNK.length, end);
          return null;
        };
        let received = 0;
        const response = await fetch(`${gateway.url}/things`);
        for await (const chunk of response.body ?? []) received += chunk.byteLength;
        expect(received).toBe(BYTES);
      });
    }

    test("waits for a client that does not read", async () => {
      let sent = 0;
      service.handler = (_, socket) => {
        socket.send(lengthHead);
        pump(socket, CHUNK, BYTES / CHUNK.length, "", (bytes) => {
          sent = bytes;
        });
        return null;
      };
      const client = await RawClient.connect(gateway.url);
      client.onData = () => client.pause();
      client.send(spell("GET", "/things"));
      const resting = await settled(() => sent);
      expect(resting).toBeLessThan(64 * MIB);
      client.destroy();
    });
  });

  describe("an upload", () => {
    for (const [name, header, part, end] of [
      ["of known length", `Content-Length: ${BYTES}`, CHUNK, ""],
      ["of unknown length", "Transfer-Encoding: chunked", asChunk, "0\r\n\r\n"],
    ] as const) {
      test(`${name} arrives completely, with the same framing`, async () => {
        const parts = BYTES / CHUNK.length;
        let received = 0;
        service.handler = (_, socket) => {
          socket.keep = false;
          received = socket.received.length;
          socket.onData = () => {
            const total = received + socket.receivedBytes;
            if (total >= BYTES) socket.send(OK_CLOSE);
          };
          socket.receivedBytes = 0;
          return null;
        };
        const client = await RawClient.connect(gateway.url);
        client.send(`POST /things HTTP/1.1\r\nHost: gateway.test\r\n${header}\r\n\r\n`);
        pump(client, part, parts, end);
        expect((await client.response("POST", 120_000)).status).toBe(200);
        const [request] = service.requests;
        expect(headerValue(request?.headers ?? [], "content-length")).toBe(end === "" ? String(BYTES) : null);
        expect(headerValue(request?.headers ?? [], "transfer-encoding")).toBe(end === "" ? null : "chunked");
        client.destroy();
      });
    }

    test("waits for a service that does not read", async () => {
      let sent = 0;
      service.handler = (_, socket) => {
        socket.pause();
        return null;
      };
      const client = await RawClient.connect(gateway.url);
      client.send(`POST /things HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: ${BYTES}\r\n\r\n`);
      pump(client, CHUNK, BYTES / CHUNK.length, "", (bytes) => {
        sent = bytes;
      });
      expect(await settled(() => sent)).toBeLessThan(64 * MIB);
      client.destroy();
    });

    test("ends as soon as the service responds without reading the rest", async () => {
      service.handler = () =>
        "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno";
      const client = await RawClient.connect(gateway.url);
      client.send(`POST /things HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: ${10 * MIB}\r\n\r\n`);
      client.send(CHUNK);
      expect((await client.response("POST")).status).toBe(403);
      client.destroy();
    });
  });

  describe("slow readers", () => {
    /** Returns clients that have read the first bytes of a response of `owed` bytes, and then paused. */
    async function stalledReaders(count: number, owed: number): Promise<RawClient[]> {
      service.handler = (request, socket) => {
        if (headerValue(request.headers, "x-quick") !== null) return OK;
        socket.send(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${owed}\r\n\r\n`);
        pump(socket, CHUNK, owed / CHUNK.length, "");
        return null;
      };
      const clients = await Promise.all(Array.from({ length: count }, () => RawClient.connect(gateway.url)));
      for (const client of clients) {
        client.keep = false;
        client.onData = () => client.pause();
        client.send(spell("GET", "/things"));
      }
      await waitFor(() => clients.every((client) => client.receivedBytes > 0), { timeoutMs: 60_000 });
      return clients;
    }

    test("do not delay others, even two hundred of them, and get everything once they read on", async () => {
      const clients = await stalledReaders(200, MIB);
      for (let quick = 0; quick < 20; quick++) {
        expect((await rawRequest(gateway.url, spell("GET", "/things", { "X-Quick": "1" }))).status).toBe(200);
      }
      for (const client of clients) {
        client.onData = () => {};
        client.resume();
      }
      await waitFor(() => clients.every((client) => client.receivedBytes > MIB), { timeoutMs: 60_000 });
      for (const client of clients) client.destroy();
    });
  });

  // GW-112
  describe("server-sent events", () => {
    const sse = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    const event = (text: string) => {
      const line = `data: ${text}\n\n`;
      return `${line.length.toString(16)}\r\n${line}\r\n`;
    };

    test("start at once, arrive one by one as they are sent, and continue after a long pause", async () => {
      let stream: RawSocket | undefined;
      service.handler = (_, socket) => {
        stream = socket;
        return sse;
      };
      const client = await RawClient.connect(gateway.url);
      const sees = (text: string) =>
        client.until(() => client.received.includes(text) || null, `${text} arriving`, 5_000);
      client.send(spell("GET", "/things", { Accept: "text/event-stream" }));
      await sees("\r\n\r\n");
      stream?.send(Buffer.concat([Buffer.from("3\r\n"), MARK, Buffer.from("\r\n")]));
      expect(client.received.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      for (const name of ["one", "two", "three"]) {
        stream?.send(event(name));
        await sees(`data: ${name}\n\n`);
      }
      expect(client.received.includes(MARK)).toBe(false);
      await Bun.sleep(SILENCE_MS);
      stream?.send(event("after silence"));
      await sees("data: after silence\n\n");
      stream?.send("0\r\n\r\n");
      const response = await client.response();
      expect(response.complete).toBe(true);
      // The gateway starts the stream with a comment line, which clients of event streams ignore.
      expect(response.body.toString().replace(/^:\n/, "")).toBe(
        "data: one\n\ndata: two\n\ndata: three\n\ndata: after silence\n\n",
      );
      client.destroy();
    });

    test("with a Content-Encoding pass unchanged", async () => {
      const packed = Bun.gzipSync("data: one\n\n");
      service.handler = (_, socket) => {
        socket.send(sse.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n"));
        socket.send(`${packed.length.toString(16)}\r\n`);
        socket.send(packed);
        return "\r\n0\r\n\r\n";
      };
      const response = await rawRequest(gateway.url, spell("GET", "/things"));
      expect(response.body.equals(Buffer.from(packed))).toBe(true);
    });
  });
});
