/**
 * Documents what the runtime's `fetch` does worse than the pool. If a test fails here, the runtime has
 * changed.
 */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { FetchClient } from "../../../../apps/gateway/upstream/fetch-client.ts";
import { MALFORMED } from "../../../support/gateway/malformed-responses.ts";
import { OK, RawUpstream } from "../../../support/http/raw-http.ts";
import { begin, call, sourceOf } from "./client-bed.ts";

const client = new FetchClient();
const service = new RawUpstream();
afterAll(() => service.close());
beforeEach(() => {
  service.requests.length = 0;
  service.handler = () => OK;
});

describe("fetch accepts malformed responses:", () => {
  test.each(["chunked in HTTP/1.0", "bare line feeds", "a head over 64 KiB", "more than 200 fields"])(
    "%s",
    async (what) => {
      service.handler = () => MALFORMED[what] ?? "";
      expect(await call(client, service, { method: "POST" })).toMatchObject({ status: 200 });
    },
  );
});

describe("fetch treats a broken body as complete:", () => {
  test.each([
    ["a body without a length whose connection is reset", "HTTP/1.1 200 OK\r\n\r\nhe"],
    [
      "unfinished trailers",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n0\r\nX-A: 1\r\n",
    ],
  ])("%s", async (_, bytes) => {
    service.handler = () => bytes;
    const source = sourceOf(await begin(client, service, { method: "POST" }).response);
    expect(Buffer.from((await source.next()) ?? []).toString()).toBe("he");
    service.sockets.at(-1)?.destroy();
    expect(await source.next()).toBeUndefined();
  });
});

test("fetch retries a GET after the first byte of a response", async () => {
  await call(client, service);
  const used = service.request.connection;
  service.handler = ({ connection }, socket) => {
    if (connection !== used) return OK;
    socket.send("H");
    socket.end();
    return null;
  };
  expect((await call(client, service)).text).toBe("ok");
  expect(service.requests.length).toBe(3);
});
