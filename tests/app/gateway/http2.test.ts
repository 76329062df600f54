/** Tests HTTP/2 without TLS, with prior knowledge: each stream is a request like any other. */
import { afterAll, describe, expect, test } from "bun:test";
import { startCollector } from "../../support/collector.ts";
import { publicService, startLocalGateway } from "../../support/gateway.ts";
import { GatewayNeighbours, MEMBER_KEY } from "../../support/gateway-neighbours.ts";
import { Http2Client } from "../../support/http2-client.ts";
import { waitFor } from "../../support/index.ts";
import { chunk, EVENTS, headerValue, OK, rawRequest, spell } from "../../support/raw-http.ts";
import {
  dataFrames,
  ErrorCode,
  headersFrames,
  RawHttp2Client,
  requestFields,
} from "../../support/raw-http2.ts";
import { useGateway, useService } from "./bed.ts";

const CHUNKED = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";

const neighbours = new GatewayNeighbours();
const service = useService();
const { url } = service;
const gateway = useGateway(
  {
    HTTP2_ENABLED: "true",
    HTTP2_CLEARTEXT: "true",
    FORWARD_CLIENT_ADDRESS: "true",
    TRUSTED_PROXY_HOPS: "1",
    MAX_BODY_BYTES: "100000",
    CLIENT_BODY_TIMEOUT_MS: "400",
    ...neighbours.env,
  },
  () => ({
    things: publicService(url, { path: "/things/{id}", methods: ["GET", "POST", "HEAD"] }),
    audited: { url, organization: { routes: [{ path: "/audited/{id}", methods: ["POST"], audit: true }] } },
  }),
);
afterAll(() => neighbours.stop());

const client = () => new Http2Client(gateway.url);

// GW-170
describe("a port that speaks both protocols", () => {
  test("answers HTTP/1.1 and HTTP/2", async () => {
    const connection = client();
    const [one, two] = await Promise.all([
      rawRequest(gateway.url, spell("GET", "/things/1")),
      connection.ask("/things/2"),
    ]);
    expect([one.status, one.body.toString()]).toEqual([200, "ok"]);
    expect([two.status, two.body]).toEqual([200, "ok"]);
    connection.close();
  });

  test("exists only if HTTP/2 is enabled", async () => {
    await using plain = await startLocalGateway();
    const connection = await RawHttp2Client.connect(plain.url);
    await connection.untilClosed();
    expect(connection.ofType(4)).toEqual([]);
  });

  test("sends no header that HTTP/2 forbids", async () => {
    const connection = client();
    service.handler = () =>
      "HTTP/1.1 200 OK\r\nConnection: close\r\nKeep-Alive: timeout=5\r\nX-Of-Service: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    const answers = [
      await connection.ask("/things/1"),
      await connection.ask("/things/1", { ":method": "HEAD" }),
      await connection.ask("/nowhere"),
      await connection.ask("/things/1", { ":method": "OPTIONS" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 204]);
    for (const { headers } of answers) {
      expect(Object.keys(headers)).toEqual(Object.keys(headers).map((name) => name.toLowerCase()));
      for (const name of ["connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection"])
        expect(headers).not.toHaveProperty(name);
    }
    expect(answers[0]?.headers).toHaveProperty("x-of-service", "1");
    connection.close();
  });

  test("forwards the Content-Length of a service's response to HEAD", async () => {
    const connection = client();
    service.handler = () => "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n";
    const { headers } = await connection.ask("/things/1", { ":method": "HEAD" });
    expect(headers["content-length"]).toBe("77");
    connection.close();
  });
});

describe("each stream of a connection", () => {
  test("has its own request id, access line and client address", async () => {
    const connection = client();
    const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
    const answers = await Promise.all(
      addresses.map((address) => connection.ask("/things/1", { "x-forwarded-for": address })),
    );
    const ids = answers.map(({ headers }) => String(headers["x-request-id"]));
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(await gateway.logOf(id)).toMatchObject({ status: 200, method: "GET" });
    const told = service.requests.map(({ headers }) => [
      headerValue(headers, "x-request-id"),
      headerValue(headers, "x-forwarded-for"),
    ]);
    const expected = ids.map((id, index) => [id, `${addresses[index]}, 127.0.0.1`]);
    expect(told.toSorted()).toEqual(expected.toSorted());
    connection.close();
  });

  test("has its own audit event, with its own address", async () => {
    const connection = client();
    const addresses = ["192.0.2.11", "192.0.2.12"];
    const answers = await Promise.all(
      addresses.map((address, index) =>
        connection.ask(`/audited/${index}`, {
          ":method": "POST",
          "x-api-key": MEMBER_KEY,
          "x-forwarded-for": address,
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const intents = neighbours.audit.of("PUT");
    const told = answers.map(({ headers }) =>
      intents.find(({ path }) => path.endsWith(String(headers["x-request-id"]))),
    );
    for (const [index, ip] of addresses.entries()) expect(told[index]?.body).toMatchObject({ ip });
    connection.close();
  });

  test("continues its own trace", async () => {
    await using collector = startCollector();
    const traced = await startLocalGateway({
      HTTP2_ENABLED: "true",
      HTTP2_CLEARTEXT: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    });
    await traced.publish({ things: publicService(service.url, { path: "/things/{id}", methods: ["GET"] }) });
    const connection = new Http2Client(traced.url);
    const traces = ["1", "2"].map((digit) => digit.repeat(32));
    await Promise.all(
      traces.map((trace, index) =>
        connection.ask(`/things/${index}`, { traceparent: `00-${trace}-${"a".repeat(16)}-01` }),
      ),
    );
    const sent = service.requests.map(({ target, headers }) => [
      target,
      headerValue(headers, "traceparent")?.slice(3, 35),
    ]);
    expect(sent.toSorted()).toEqual(traces.map((trace, index) => [`/things/${index}`, trace]));
    connection.close();
    // Closing the gateway sends its queued spans.
    await traced.close();
    for (const trace of traces)
      expect(collector.spans.filter(({ trace_id }) => trace_id === trace).length).toBe(2);
  });

  test("is answered as soon as its service responds, even if an earlier stream still waits", async () => {
    const held = service.holdAnswers();
    const connection = client();
    const slow = connection.ask("/things/slow");
    await waitFor(() => held.has("/things/slow"));
    service.handler = () => OK;
    const fast = await Promise.all(Array.from({ length: 20 }, (_, id) => connection.ask(`/things/${id}`)));
    expect(fast.every(({ status }) => status === 200)).toBe(true);
    held.get("/things/slow")?.send(OK);
    expect((await slow).status).toBe(200);
    connection.close();
  });

  test("forwards events as they come, interleaved with those of other streams", async () => {
    const held = service.holdAnswers();
    const connection = await RawHttp2Client.connect(gateway.url);
    for (const stream of [1, 3])
      connection.send(headersFrames(stream, requestFields({ path: `/things/${stream}` })));
    await waitFor(() => held.size === 2);
    const came = (stream: number) =>
      connection
        .ofType(0, stream)
        .map(({ payload }) => payload.toString())
        .join("");
    for (const stream of [1, 3]) held.get(`/things/${stream}`)?.send(EVENTS);
    for (const stream of [3, 1, 3]) {
      const before = came(stream);
      held.get(`/things/${stream}`)?.send(chunk(`data: ${stream}\n\n`));
      await connection.until(() => came(stream) !== before || null, "An event");
      await waitFor(() => came(stream).endsWith(`data: ${stream}\n\n`));
    }
    expect([came(1), came(3)]).toEqual([":\ndata: 1\n\n", ":\ndata: 3\n\ndata: 3\n\n"]);
    connection.destroy();
  });

  test("may be an event stream: four connections carry 1000 of them", async () => {
    const CONNECTIONS = 4;
    const STREAMS = 250;
    const held = service.holdAnswers();
    const connections = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => RawHttp2Client.connect(gateway.url)),
    );
    const streams = Array.from({ length: STREAMS }, (_, index) => 1 + 2 * index);
    for (const [index, connection] of connections.entries()) {
      for (const stream of streams) {
        const path = `/things/${index}-${stream}`;
        connection.send(headersFrames(stream, requestFields({ path })));
      }
    }
    await waitFor(() => held.size === CONNECTIONS * STREAMS);
    for (const [target, socket] of held) socket.send(`${EVENTS}${chunk(`data: ${target}\n\n`)}`);
    const hasAll = (connection: RawHttp2Client, index: number) => {
      const data = connection.ofType(0);
      return streams.every((stream) =>
        data.some((each) => each.stream === stream && each.payload.includes(`${index}-${stream}\n`)),
      );
    };
    await waitFor(() => connections.every(hasAll), { timeoutMs: 20_000 });
    for (const connection of connections) connection.destroy();
    await waitFor(() => [...held.values()].every(({ closed }) => closed));
  });

  test("ends only its own call to the service if the client resets the stream", async () => {
    const held = service.holdAnswers();
    const connection = client();
    const other = connection.ask("/things/other");
    const left = connection.leave("/things/left", (body) => body.includes("part"));
    await waitFor(() => held.size === 2);
    held.get("/things/left")?.send(CHUNKED + chunk("part"));
    await left;
    await waitFor(() => held.get("/things/left")?.closed === true);
    expect(held.get("/things/other")?.closed).toBe(false);
    held.get("/things/other")?.send(OK);
    expect((await other).status).toBe(200);
    connection.close();
  });

  // GW-117
  test("is reset if the service breaks off, so that the response never looks complete", async () => {
    const held = service.holdAnswers();
    const connection = await RawHttp2Client.connect(gateway.url);
    connection.send(headersFrames(1, requestFields({ path: "/things/1" })));
    await waitFor(() => held.size === 1);
    held.get("/things/1")?.send(CHUNKED + chunk("part"));
    await connection.until(() => connection.ofType(0, 1).length > 0 || null, "The first part");
    held.get("/things/1")?.destroy();
    const end = await connection.end(1);
    expect({ body: end.body, complete: end.complete }).toEqual({ body: "part", complete: false });
    expect(end.reset).not.toBe(ErrorCode.none);
    service.handler = () => OK;
    expect((await connection.request(3, { path: "/things/3" })).status).toBe(200);
    connection.destroy();
  });

  // GW-119
  test("is 408 if its request body stalls, while other streams continue", async () => {
    const connection = await RawHttp2Client.connect(gateway.url);
    for (const [stream, length] of [
      [1, "10"],
      [3, "70000"],
    ] as const) {
      const fields = [["content-length", length]] as const;
      const spelling = { method: "POST", path: `/things/${stream}`, fields };
      connection.send(headersFrames(stream, requestFields(spelling), 0), dataFrames(stream, "abc", false));
    }
    expect((await connection.request(5, { path: "/things/5" })).status).toBe(200);
    expect((await connection.end(1)).status).toBe(408);
    expect((await connection.end(3)).status).toBe(408);
    expect((await connection.request(7, { path: "/things/7" })).status).toBe(200);
    expect(service.requests.filter(({ method }) => method === "POST")).toEqual([]);
    connection.destroy();
  });

  // GW-113
  test("is 413 if a request body of unknown length exceeds the limit", async () => {
    const connection = await RawHttp2Client.connect(gateway.url);
    connection.send(headersFrames(1, requestFields({ method: "POST", path: "/things/1" }), 0));
    // These 60 000 bytes fit the initial window. The client must wait for a larger window before it sends
    // more.
    connection.send(dataFrames(1, "x".repeat(60_000), false));
    await connection.until(() => connection.ofType(8, 1)[0] ?? null, "A larger window");
    connection.send(dataFrames(1, "x".repeat(60_000), false));
    expect((await connection.end(1)).status).toBe(413);
    expect(service.requests).toEqual([]);
    connection.destroy();
  });
});
