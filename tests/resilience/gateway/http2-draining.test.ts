/**
 * Tests that a gateway that stops sends GOAWAY, finishes open streams, and lets clients send further requests
 * to another gateway.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type LocalGateway, publicService, startLocalGateway } from "../../support/gateway.ts";
import { Http2Client } from "../../support/http2-client.ts";
import { waitFor } from "../../support/index.ts";
import { chunk, EVENTS, OK, RawUpstream } from "../../support/raw-http.ts";
import {
  dataFrames,
  ErrorCode,
  FrameType,
  headersFrames,
  RawHttp2Client,
  requestFields,
} from "../../support/raw-http2.ts";

let service: RawUpstream;
let gateway: LocalGateway;
let stopped: Promise<void> | null;

beforeEach(async () => {
  service = new RawUpstream();
  stopped = null;
  gateway = await startLocalGateway({
    HTTP2_ENABLED: "true",
    HTTP2_CLEARTEXT: "true",
    SHUTDOWN_TIMEOUT_MS: "10000",
  });
  await gateway.publish({
    things: publicService(service.url, { path: "/things/{id}", methods: ["GET", "POST"] }),
  });
});

afterEach(async () => {
  for (const socket of service.sockets) socket.destroy();
  await (stopped ?? gateway.close());
  service.close();
});

function stop(): void {
  stopped = gateway.close();
}

const goAwayOf = (client: RawHttp2Client) =>
  client.until(() => client.ofType(FrameType.goAway)[0] ?? null, "GOAWAY");

// GW-174
describe("a gateway that stops", () => {
  test("sends GOAWAY on every HTTP/2 connection, and closes connections without a stream", async () => {
    const idle = await RawHttp2Client.connect(gateway.url);
    const used = await RawHttp2Client.connect(gateway.url);
    expect((await used.request(1, { path: "/things/1" })).status).toBe(200);
    await idle.synced();
    stop();
    await Promise.all([idle.untilClosed(), used.untilClosed()]);
    expect([idle.goAway, used.goAway]).toEqual([ErrorCode.none, ErrorCode.none]);
  });

  test("finishes open streams, and forwards no later ones", async () => {
    const held = service.holdAnswers();
    const client = await RawHttp2Client.connect(gateway.url);
    client.send(headersFrames(1, requestFields({ path: "/things/1" })));
    const uploading = { method: "POST", path: "/things/3", fields: [["content-length", "6"]] } as const;
    client.send(headersFrames(3, requestFields(uploading), 0), dataFrames(3, "abc", false));
    await waitFor(() => held.has("/things/1"));
    await client.synced();
    stop();
    const goAway = await goAwayOf(client);
    expect([goAway.payload.readUInt32BE(0), goAway.payload.readUInt32BE(4)]).toEqual([3, ErrorCode.none]);
    client.send(headersFrames(5, requestFields({ path: "/things/5" })), dataFrames(3, "def", true));
    await waitFor(() => held.has("/things/3"));
    for (const socket of held.values()) socket.send(OK);
    for (const stream of [1, 3])
      expect(await client.end(stream)).toMatchObject({ status: 200, body: "ok", complete: true });
    await client.untilClosed();
    expect(service.requests.map(({ target }) => target).toSorted()).toEqual(["/things/1", "/things/3"]);
  });

  // GW-159
  test("ends event streams between two events, with a retry time", async () => {
    const held = service.holdAnswers();
    const client = new Http2Client(gateway.url);
    const answer = client.ask("/things/1");
    await waitFor(() => held.has("/things/1"));
    held.get("/things/1")?.send(`${EVENTS}${chunk("data: one\n\n")}${chunk("data: tw")}`);
    await waitFor(async () => /^gateway_open_streams 1$/m.test(await gateway.metrics()));
    stop();
    held.get("/things/1")?.send(chunk("o\n\n"));
    const { status, body, code } = await answer;
    expect([status, code]).toEqual([200, 0]);
    expect(body).toMatch(/^:\ndata: one\n\ndata: two\n\nretry: \d+\n\n$/);
    await waitFor(() => client.goneAway);
    client.close();
  });

  test("loses no request of clients that change to another gateway after GOAWAY", async () => {
    const other = await startLocalGateway({ HTTP2_ENABLED: "true", HTTP2_CLEARTEXT: "true" });
    await other.publish({ things: publicService(service.url, { path: "/things/{id}", methods: ["GET"] }) });
    const lost: unknown[] = [];
    let answered = 0;
    let done = false;
    const load = async () => {
      let client = new Http2Client(gateway.url);
      for (let id = 0; !done; id += 1) {
        if (client.goneAway || client.closed) client = new Http2Client(other.url);
        // The gateway did not process a stream beyond GOAWAY, so the client sends it again elsewhere.
        const ask = () => client.ask(`/things/${id}`);
        const again = () => {
          client = new Http2Client(other.url);
          return ask();
        };
        const answer = await ask()
          .catch(again)
          .catch((error) => error);
        if (answer?.status === 200 && answer.code === 0) answered += 1;
        else lost.push(answer);
      }
      client.close();
    };
    const clients = Array.from({ length: 8 }, load);
    await waitFor(() => answered > 200);
    stop();
    await stopped;
    const before = answered;
    await waitFor(() => answered > before + 200);
    done = true;
    await Promise.all(clients);
    expect(lost).toEqual([]);
    await other.close();
  });
});
