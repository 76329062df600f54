/** Tests of the limits of one HTTP/2 connection: a client that exceeds them must not delay others. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type LocalGateway, publicService, startLocalGateway } from "../../support/gateway.ts";
import { waitFor } from "../../support/index.ts";
import { OK, type RawHeaders, RawUpstream } from "../../support/raw-http.ts";
import {
  dataFrames,
  END_HEADERS,
  END_STREAM,
  ErrorCode,
  FrameType,
  fieldBlock,
  frame,
  headersFrames,
  RawHttp2Client,
  requestFields,
  resetFrame,
  Setting,
  windowUpdateFrame,
} from "../../support/raw-http2.ts";

setDefaultTimeout(60_000);

/** Limits of the runtime, which LIMITS.md lists. */
const STREAMS_MAX = 256;
const RESETS_MAX = 1_000;
const RESETS_PER_SECOND = 33;
const HEADER_LIST_BYTES_MAX = 16_384;
const WINDOW_BYTES = 65_536;

/** The number of unsent bytes at which a flooding client waits. */
const UNSENT_BYTES_MAX = 4 * 1024 * 1024;

const service = new RawUpstream();
/** A service that reads only the head of a request. */
const deaf = new RawUpstream(
  (_, socket) => {
    socket.pause();
    return null;
  },
  { atHead: true },
);
let gateway: LocalGateway;
const clients: RawHttp2Client[] = [];

beforeAll(async () => {
  gateway = await startLocalGateway({
    HTTP2_ENABLED: "true",
    HTTP2_CLEARTEXT: "true",
    CLIENT_IDLE_TIMEOUT_MS: "1000",
    MAX_BODY_BYTES: "0",
  });
  await gateway.publish({
    things: publicService(service.url, { path: "/things/{id}", methods: ["GET", "POST"] }),
    deaf: publicService(deaf.url, { path: "/deaf", methods: ["POST"] }),
  });
});

afterAll(async () => {
  await gateway.close();
  service.close();
  deaf.close();
});

afterEach(async () => {
  for (const each of clients.splice(0)) each.destroy();
  service.handler = () => OK;
  await waitFor(noCallsOpen);
  service.requests.length = 0;
});

async function connect(settings: Readonly<Record<number, number>> = {}): Promise<RawHttp2Client> {
  const client = await RawHttp2Client.connect(gateway.url, settings);
  clients.push(client);
  return client;
}

async function noCallsOpen(): Promise<boolean> {
  return /^gateway_open_upstream_calls 0$/m.test(await gateway.metrics());
}

/** Expects that the gateway serves another client. */
async function expectOthersServed(): Promise<void> {
  service.handler = (request) => (request.target === "/things/honest" ? OK : null);
  const honest = await connect();
  expect((await honest.request(1, { path: "/things/honest" })).status).toBe(200);
}

const neverAnswers = () => {
  service.handler = () => null;
};

/**
 * Sends the bytes that `spell` returns for each of up to `count` new streams. Stops when the server closes
 * the connection. Returns the number of streams.
 */
async function flood(
  client: RawHttp2Client,
  count: number,
  spell: (stream: number) => Uint8Array,
): Promise<number> {
  let sent = 0;
  for (; sent < count && !client.closed; sent += 1) {
    client.send(spell(1 + 2 * sent));
    if (sent % 100 === 99) await nextIteration();
  }
  return sent;
}

/** Sends a frame up to `count` times. Stops when the server closes the connection. */
async function repeat(client: RawHttp2Client, each: Uint8Array, count: number): Promise<void> {
  const thousand = Buffer.concat(Array.from({ length: 1_000 }, () => each));
  for (let sent = 0; sent < count && !client.closed; sent += 1_000) {
    client.send(thousand);
    do await nextIteration();
    while (client.unsent > UNSENT_BYTES_MAX && !client.closed);
  }
}

/** Waits for the next event-loop iteration, so that the gateway in this process can work. */
function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const request = (stream: number, fields: RawHeaders = []) =>
  headersFrames(stream, requestFields({ path: `/things/${stream}`, fields }));

// GW-173
describe("streams of one HTTP/2 connection", () => {
  test(`are refused beyond ${STREAMS_MAX} at once, and can then be sent again`, async () => {
    const held = service.holdAnswers();
    const client = await connect();
    const streams = Array.from({ length: STREAMS_MAX }, (_, index) => 1 + 2 * index);
    for (const stream of streams) client.send(request(stream));
    await waitFor(() => service.requests.length === STREAMS_MAX);
    const beyond = 1 + 2 * STREAMS_MAX;
    client.send(request(beyond));
    expect((await client.end(beyond)).reset).toBe(ErrorCode.refusedStream);
    expect(service.requests.length).toBe(STREAMS_MAX);
    await expectOthersServed();
    // After the end of any stream, a new one is served.
    client.send(resetFrame(1));
    await waitFor(() => held.get("/things/1")?.closed, { what: "the end of the first call" });
    expect((await client.request(beyond + 2, { path: "/things/honest" })).status).toBe(200);
  });

  test("that the client resets at once close the connection, and delay no other client", async () => {
    neverAnswers();
    const client = await connect();
    const beganMs = performance.now();
    await flood(client, 10_000, (stream) => Buffer.concat([request(stream), resetFrame(stream)]));
    await client.untilClosed();
    const seconds = Math.ceil((performance.now() - beganMs) / 1_000);
    const most = RESETS_MAX + RESETS_PER_SECOND * seconds + 1;
    expect(service.requests.length).toBeLessThanOrEqual(most);
    await expectOthersServed();
    await waitFor(noCallsOpen);
  });

  test("that the server must reset close the connection too", async () => {
    neverAnswers();
    for (const provoke of [
      (stream: number) => windowUpdateFrame(stream, 0),
      (stream: number) => windowUpdateFrame(stream, 2 ** 31 - 1),
      (stream: number) => headersFrames(stream, [["x-a", "1"]], 0),
    ]) {
      service.requests.length = 0;
      const client = await connect();
      const opened = (stream: number) =>
        headersFrames(stream, requestFields({ method: "POST", path: `/things/${stream}` }), 0);
      const beganMs = performance.now();
      await flood(client, 10_000, (stream) => Buffer.concat([opened(stream), provoke(stream)]));
      await client.untilClosed();
      const seconds = Math.ceil((performance.now() - beganMs) / 1_000);
      expect(service.requests.length).toBeLessThanOrEqual(RESETS_MAX + RESETS_PER_SECOND * seconds + 1);
      await expectOthersServed();
      neverAnswers();
    }
  });

  test("with malformed heads cause no request to a service", async () => {
    const client = await connect();
    await flood(client, 10_000, (stream) => request(stream, [["connection", "close"]]));
    await client.synced();
    expect(service.requests).toEqual([]);
    await expectOthersServed();
  });
});

// GW-173
describe("the head of an HTTP/2 request", () => {
  const field = (index: number): readonly [string, string] => [`x-${index}`, "y"];

  test("may have 190 fields or 16 KiB", async () => {
    const client = await connect();
    expect((await client.request(1, { path: "/things/1", fields: [["x", "y".repeat(15_000)]] })).status).toBe(
      200,
    );
    const fields = Array.from({ length: 190 }, (_, index) => field(index));
    expect((await client.request(3, { path: "/things/3", fields })).status).toBe(200);
  });

  test("gets 431 with more fields or more bytes", async () => {
    const client = await connect();
    const many = Array.from({ length: 250 }, (_, index) => field(index));
    expect((await client.request(1, { fields: many })).status).toBe(431);
    const long: RawHeaders = [["x", "y".repeat(HEADER_LIST_BYTES_MAX + 1_000)]];
    expect((await client.request(3, { fields: long })).status).toBe(431);
    expect((await client.request(5, { path: "/things/5" })).status).toBe(200);
    expect(service.requests.length).toBe(1);
  });

  test.each<[string, () => Uint8Array]>([
    ["with endless large CONTINUATION frames", () => fieldBlock([["x", "y".repeat(16_000)]])],
    ["with endless small CONTINUATION frames", () => fieldBlock([["x", "y"]])],
    ["with endless empty CONTINUATION frames", () => Buffer.alloc(0)],
  ])("closes the connection %s", async (_, part) => {
    const client = await connect();
    client.send(frame(FrameType.headers, END_STREAM, 1, fieldBlock(requestFields())));
    await repeat(client, frame(FrameType.continuation, 0, 1, part()), 20_000);
    await client.untilClosed();
    expect(service.requests).toEqual([]);
    await expectOthersServed();
  });

  test("is limited by its size after HPACK decompression", async () => {
    const client = await connect();
    // An HPACK bomb: the first request stores a field of 3 900 bytes as entry 62 of the dynamic table. The
    // second request refers to the entry 8 000 times.
    const value = Buffer.alloc(3_900, "y");
    const remembered = Buffer.concat([
      Buffer.from([0x40, 1]),
      Buffer.from("a"),
      Buffer.from([0x7f, ...[((3_900 - 127) % 128) | 0x80, Math.floor((3_900 - 127) / 128)]]),
      value,
    ]);
    const head = fieldBlock(requestFields({ path: "/things/1" }));
    client.send(frame(FrameType.headers, END_STREAM | END_HEADERS, 1, Buffer.concat([head, remembered])));
    expect((await client.end(1)).status).toBe(200);
    const bomb = Buffer.concat([head, Buffer.alloc(8_000, 0x80 | 62)]);
    client.send(frame(FrameType.headers, END_STREAM | END_HEADERS, 3, bomb));
    await client.untilClosed();
    expect(client.goAway).toBe(ErrorCode.enhanceYourCalm);
    expect(service.requests.length).toBe(1);
    await expectOthersServed();
  });
});

// GW-173
describe("a flood of HTTP/2 frames", () => {
  test.each([
    ["PING", frame(FrameType.ping, 0, 0, "12345678")],
    ["SETTINGS", frame(FrameType.settings, 0, 0)],
  ])("of %s from a client that reads no replies closes the connection", async (_, each) => {
    const client = await connect();
    client.pause();
    // The kernel buffers the first megabytes of replies, so it takes many frames to fill the gateway's buffer.
    await repeat(client, each, 4_000_000);
    await client.untilClosed();
    await expectOthersServed();
  });

  const opened = headersFrames(1, requestFields({ method: "POST", path: "/things/1" }), 0);
  test.each<[string, Uint8Array]>([
    ["PING", frame(FrameType.ping, 0, 0, "12345678")],
    ["SETTINGS", frame(FrameType.settings, 0, 0)],
    ["PRIORITY", frame(FrameType.priority, 0, 3, Buffer.from([0, 0, 0, 0, 1]))],
    ["WINDOW_UPDATE", windowUpdateFrame(0, 1)],
    ["an unknown type", frame(77, 0, 0, "abc")],
    ["empty DATA", Buffer.concat([dataFrames(1, "", false)])],
  ])("of %s delays no other client", async (_, each) => {
    neverAnswers();
    const client = await connect();
    client.send(opened);
    const others = async () => {
      await expectOthersServed();
      neverAnswers();
    };
    for (let round = 0; round < 5; round += 1) {
      await repeat(client, each, 20_000);
      await others();
    }
    expect(service.requests.filter(({ target }) => target === "/things/1")).toEqual([]);
  });
});

// GW-111
describe("an HTTP/2 client that does not read one stream", () => {
  const BODY_BYTES = 20 * 1024 * 1024;
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`;

  test("gets its other streams, and the service of the unread stream has to wait", async () => {
    const body = Buffer.alloc(BODY_BYTES, "x");
    service.handler = ({ target }, socket) => {
      if (target !== "/things/1") return OK;
      socket.send(head);
      socket.send(body);
      return null;
    };
    const client = await connect();
    client.send(request(1));
    // The client sends no WINDOW_UPDATE for this stream, so the gateway can send only its window of 65 535
    // bytes.
    await client.until(() => client.ofType(FrameType.data, 1).length >= 4 || null, "The first window");
    const bytes = () =>
      client.ofType(FrameType.data, 1).reduce((sum, { payload }) => sum + payload.length, 0);
    for (let stream = 3; stream < 103; stream += 2) {
      client.send(windowUpdateFrame(0, 2));
      expect((await client.request(stream, { path: `/things/${stream}` })).status).toBe(200);
    }
    expect(bytes()).toBeLessThanOrEqual(WINDOW_BYTES);
    const slow = service.sockets.find(({ unsent }) => unsent > 0);
    expect(slow?.unsent).toBeGreaterThan(BODY_BYTES / 4);
    client.send(resetFrame(1));
    await waitFor(() => slow?.closed === true);
  });

  test("is disconnected when that is its only stream", async () => {
    const client = await connect({ [Setting.initialWindowSize]: 0 });
    client.send(request(1));
    await client.until(() => client.ofType(FrameType.headers, 1)[0] ?? null, "The head");
    await client.untilClosed(30_000);
    expect(client.ofType(FrameType.data, 1)).toEqual([]);
  });
});

// GW-111
test("an HTTP/2 client cannot send more than its window when the service does not read", async () => {
  const client = await connect();
  client.send(headersFrames(1, requestFields({ method: "POST", path: "/deaf" }), 0));
  await waitFor(() => deaf.requests.length === 1);
  // Sends far more bytes than fit into the HTTP/2 window and the buffers of the connection to the service.
  await repeat(client, dataFrames(1, Buffer.alloc(16_384), false), 4_000);
  expect((await client.end(1)).reset).toBe(ErrorCode.flowControl);
  await expectOthersServed();
});

// GW-197
describe("an idle HTTP/2 connection", () => {
  test.each<[string, (client: RawHttp2Client) => void]>([
    ["with only its preface", () => {}],
    [
      "with an incomplete head",
      (client) => client.send(frame(FrameType.headers, END_STREAM, 1, fieldBlock(requestFields()))),
    ],
    ["after its responses", (client) => client.send(request(1), request(3))],
  ])("is closed %s", async (_, act) => {
    const client = await connect();
    act(client);
    await client.untilClosed(30_000);
    expect(client.goAway).toBe(ErrorCode.none);
  });

  test("is not closed while a request waits for its response", async () => {
    neverAnswers();
    const waiting = await connect();
    waiting.send(request(1));
    await waitFor(() => service.requests.length === 1);
    service.handler = () => OK;
    expect((await waiting.request(3, { path: "/things/3" })).status).toBe(200);
    const idle = await connect();
    await idle.untilClosed(30_000);
    expect(waiting.closed).toBe(false);
  });
});
