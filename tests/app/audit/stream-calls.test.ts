import { describe, expect, test } from "bun:test";
import { createServer as createHttpServer } from "node:http";
import type { Socket } from "node:net";
import { type CallResult, retryAfterMs } from "../../../apps/audit/receivers/receiver-call.ts";
import { listenLocally } from "../../support/http/listen-locally.ts";
import { waitFor } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { BODY, errorOf, pour, rawServer, receiver } from "./stream-calls-bed.ts";

// AU-101
describe("a receiver's response", () => {
  test("is a failure if it redirects, and the redirect is not followed", async () => {
    let followed = 0;
    const server = await rawServer((socket, text) => {
      if (text.startsWith("GET") || text.includes("/elsewhere")) followed += 1;
      socket.end("HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
    });
    const call = server.receiver();
    expect(errorOf(await call.post(BODY, {}))).toBe(
      "The receiver responded with 307, and redirects are not followed.",
    );
    expect(followed).toBe(0);
  });

  test("is read up to 4 KiB, however long it is", async () => {
    let written = () => 0;
    const server = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      written = pour(socket, `1000\r\n${"x".repeat(4_096)}\r\n`);
    });
    const call = server.receiver();
    expect(await call.post(BODY, {})).toEqual({ outcome: "accepted", status: 200 });
    await waitFor(() => [...server.sockets].every((socket) => socket.destroyed));
    expect(written()).toBeLessThan(50_000_000);
  });

  test.each([
    ["garbage", "\x00\x01\x02 what is this\r\n\r\n"],
    ["a status above 599", "HTTP/1.1 999 Yes\r\nContent-Length: 0\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
  ])("of %s is a failure, and says nothing of its own", async (_, text) => {
    const server = await rawServer((socket) => socket.end(text));
    const call = server.receiver();
    const error = "The receiver's response is not HTTP.";
    expect(await call.post(BODY, {})).toEqual({
      outcome: "refused",
      status: null,
      error,
      retryAfterMs: null,
    });
  });

  test.each([
    ["its head", "HTTP/1.1 200 OK\r\nX-Slow: yes\r\n"],
    ["its body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"],
  ])("that comes byte by byte in %s, one each second, is a failure after 10 s in all", async (part, head) => {
    const clock = manualClock();
    const server = await rawServer((socket) => socket.write(part === "its head" ? "" : head));
    const call = server.receiver({ clock });
    let result: CallResult | undefined;
    const ended = call.post(BODY, {}).then((settled) => {
      result = settled;
    });
    await waitFor(() => server.sockets.size === 1);
    const bytes = part === "its head" ? head : "x".repeat(100);
    for (let second = 0; second < 9; second++) {
      for (const socket of server.sockets) socket.write(bytes.charAt(second));
      clock.advance(1_000);
    }
    expect(result).toBeUndefined();
    clock.advance(1_000);
    await ended;
    expect(result && errorOf(result)).toBe("The receiver did not respond within 10 s.");
    await waitFor(() => [...server.sockets].every((socket) => socket.destroyed));
  });

  // AU-177
  test.each<[string, (socket: Socket) => void]>([
    ["closed", (socket) => void socket.end()],
    ["reset", (socket) => void socket.resetAndDestroy()],
  ])(
    "whose connection is %s in the middle of its body is a failure, and the next call works",
    async (_, cut) => {
      let calls = 0;
      const server = await rawServer((socket) => {
        const isFirst = calls++ === 0;
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${"x".repeat(isFirst ? 40 : 100)}`,
          () => {
            if (isFirst) cut(socket);
          },
        );
      });
      const call = server.receiver();
      expect((await call.post(BODY, {})).outcome).toBe("refused");
      expect(await call.post(BODY, {})).toEqual({ outcome: "accepted", status: 200 });
    },
  );

  // AU-177
  test.each([
    ["an endless header", "HTTP/1.1 200 OK\r\nX-Long: ", "x".repeat(65_536)],
    ["endless headers", "HTTP/1.1 200 OK\r\n", `X-Header: ${"x".repeat(100)}\r\n`.repeat(600)],
    ["endless interim responses", "", "HTTP/1.1 102 Processing\r\n\r\n".repeat(2_000)],
  ])("with %s is a failure at once, and most of it is never read", async (_, head, more) => {
    let written = () => 0;
    const server = await rawServer((socket) => {
      socket.write(head);
      written = pour(socket, more);
    });
    // The clock stands still, so it is the size of the response that ends the call, not the timeout of 10 s.
    const call = server.receiver({ clock: manualClock() });
    expect((await call.post(BODY, {})).outcome).toBe("refused");
    await waitFor(() => [...server.sockets].every((socket) => socket.destroyed));
    expect(written()).toBeLessThan(100_000_000);
  });

  test("may follow a few interim responses", async () => {
    const server = await rawServer((socket) => {
      socket.write(`${"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(3)}HTTP/1.1 204 Done\r\n\r\n`);
    });
    const call = server.receiver();
    expect(await call.post(BODY, {})).toEqual({ outcome: "accepted", status: 204 });
  });

  // AU-177
  test("counts even if it comes before the request body is sent, and the rest of the body is still sent", async () => {
    const bodies: number[] = [];
    const server = createHttpServer((request, response) => {
      response.writeHead(200, { "Content-Length": "0" }).end();
      let bytes = 0;
      request.on("data", (data: Buffer) => {
        bytes += data.length;
      });
      request.on("end", () => bodies.push(bytes));
    });
    const port = await listenLocally(server);
    const call = receiver(`http://127.0.0.1:${port}/`, [port]);
    const big = Buffer.alloc(262_144, "x");
    for (let n = 0; n < 3; n++) {
      expect(await call.post(big, {})).toEqual({ outcome: "accepted", status: 200 });
    }
    await waitFor(() => bodies.length === 3);
    expect(bodies).toEqual(Array(3).fill(big.length));
    server.close();
  });

  test("is missing if the connection is reset, and the call fails; a closed idle connection is replaced", async () => {
    const resetting = await rawServer((socket) => socket.resetAndDestroy());
    const reset = resetting.receiver();
    expect((await reset.post(BODY, {})).outcome).toBe("refused");
    const closing = await rawServer((socket) => {
      if (socket.bytesRead > 400) return void socket.resetAndDestroy();
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    const again = closing.receiver();
    for (let n = 0; n < 6; n++) expect((await again.post(BODY, {})).outcome).toBe("accepted");
  });

  test("is awaited 10 s in all, also if a reused connection is reset and the call is sent again", async () => {
    const clock = manualClock();
    const asked: Socket[] = [];
    const server = await rawServer((socket) => asked.push(socket));
    const call = server.receiver({ clock });
    const first = call.post(BODY, {});
    await waitFor(() => asked.length === 1);
    asked[0]?.write("HTTP/1.1 204 No Content\r\n\r\n");
    await first;
    const second = call.post(BODY, {});
    await waitFor(() => asked.length === 2);
    clock.advance(9_000);
    expect(asked[1]).toBe(asked[0]);
    asked[1]?.resetAndDestroy();
    await waitFor(() => asked.length === 3);
    expect(clock.waiting()).toEqual([1_000]);
    clock.advance(1_000);
    expect(errorOf(await second)).toBe("The receiver did not respond within 10 s.");
  });

  test("is no longer awaited once the caller aborts", async () => {
    const server = await rawServer(() => {});
    const call = server.receiver();
    const giveUp = new AbortController();
    const result = call.post(BODY, {}, giveUp.signal);
    await waitFor(() => server.sockets.size === 1);
    giveUp.abort();
    expect(await result).toEqual({ outcome: "aborted" });
  });

  // AU-186
  test("may have a date in Retry-After, which is compared with its own Date header and not with the local clock", async () => {
    const server = await rawServer((socket) => {
      const dates = "Date: Sat, 31 Jan 2026 12:00:00 GMT\r\nRetry-After: Sat, 31 Jan 2026 12:01:00 GMT\r\n";
      socket.end(`HTTP/1.1 503 Later\r\n${dates}Content-Length: 0\r\n\r\n`);
    });
    for (const clock of [manualClock("2026-01-30T12:00:00Z"), manualClock("2026-02-02T12:00:00Z")]) {
      const call = server.receiver({ clock });
      expect(await call.post(BODY, {})).toMatchObject({ outcome: "refused", retryAfterMs: 60_000 });
    }
  });

  test("may have seconds or a date in Retry-After, limited to a day", () => {
    const now = Date.parse("2026-01-31T12:00:00Z");
    const cases: [string | undefined, number | null][] = [
      [undefined, null],
      ["0", 0],
      ["120", 120_000],
      ["999999999", 86_400_000],
      ["Sat, 31 Jan 2026 12:01:00 GMT", 60_000],
      ["Sat, 31 Jan 2026 11:00:00 GMT", 0],
      ["soon", null],
      ["-1", null],
    ];
    for (const [header, expected] of cases)
      expect([header, retryAfterMs(header, now)]).toEqual([header, expected]);
  });
});
