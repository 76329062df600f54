/**
 * Tests of behaviors of the runtime that the gateway's README describes. If a test fails, update the README.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type LocalGateway, publicService, startLocalGateway } from "../../../support/gateway/gateway.ts";
import {
  headerValue,
  OK,
  RawClient,
  type RawHeaders,
  type RawRequest,
  type RawSocket,
  RawUpstream,
  rawRequest,
  spell,
} from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/index.ts";

const service = new RawUpstream();
let gateway: LocalGateway;

beforeAll(async () => {
  gateway = await startLocalGateway();
  await gateway.publish({
    things: publicService(service.url, {
      path: "/things",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"],
    }),
    thing: publicService(service.url, { path: "/things/{id}", methods: ["GET"] }),
  });
});

afterAll(async () => {
  await gateway.close();
  service.close();
});

beforeEach(() => {
  service.handler = () => OK;
  service.requests.length = 0;
});

/** Sends a request to the gateway, and returns the request that the service got. */
async function received(bytes: string): Promise<RawRequest> {
  expect((await rawRequest(gateway.url, bytes)).status).toBe(200);
  return service.request;
}

// GW-8
test("the authority of a target in absolute form is dropped, and Host takes its place", async () => {
  const telling = await startLocalGateway({ FORWARD_CLIENT_ADDRESS: "true" });
  await telling.publish({ things: publicService(service.url, { path: "/things", methods: ["GET"] }) });
  await rawRequest(telling.url, spell("GET", "http://user:secret@elsewhere.test:81/a/../things?b=c"));
  expect(service.request.target).toBe("/things?b=c");
  expect(headerValue(service.request.headers, "x-forwarded-host")).toBe("gateway.test");
  expect(service.request.head).not.toMatch(/elsewhere|secret/);
  await telling.close();
});

// GW-8
describe("the request target is normalized", () => {
  const table: [sent: string, arrives: string][] = [
    ["/things/\xff\xfe", "/things/%EF%BF%BD%EF%BF%BD"],
    ["/things?a=\xff", "/things?a=%EF%BF%BD"],
    ["/things/\xc3\xa9", "/things/%C3%A9"],
    ["/things/%FF%fe?b=%FF", "/things/%FF%fe?b=%FF"],
    ["/things?a='b'", "/things?a=%27b%27"],
    ["/things/'b'", "/things/'b'"],
    ['/things?a="b"<c>', "/things?a=%22b%22%3Cc%3E"],
    ["/things?`{}|\\^[]", "/things?`{}|\\^[]"],
    ["/things/{a}^`|", "/things/%7Ba%7D%5E%60|"],
    ["/things?", "/things?"],
    ["/things?&&a=&=b+%20", "/things?&&a=&=b+%20"],
  ];
  test.each(table)("%s", async (sent, arrives) => {
    expect((await received(spell("GET", sent))).target).toBe(arrives);
  });
});

// GW-17
describe("a method that no route can have", () => {
  test.each(["FOO", "GETS", "X", "get"])("%s closes the connection without a response", async (method) => {
    const client = await RawClient.connect(gateway.url);
    client.send(spell(method, "/things"));
    await client.untilClosed();
    expect(client.received.toString()).toBe("");
  });
  test.each(["TRACE", "PROPFIND", "QUERY", "PURGE"])("%s is 404", async (method) => {
    expect((await rawRequest(gateway.url, spell(method, "/things"))).status).toBe(404);
  });
});

describe("header lines", () => {
  const lines = (count: number): RawHeaders => Array.from({ length: count }, (_, at) => [`X-${at}`, "1"]);
  const answering = (count: number) => () =>
    `HTTP/1.1 200 OK\r\n${lines(count)
      .map(([name]) => `${name}: 1\r\n`)
      .join("")}Content-Length: 2\r\n\r\nok`;

  test("a request may have 198, and gets 431 without a body if it has more", async () => {
    expect((await rawRequest(gateway.url, spell("GET", "/things", lines(197)))).status).toBe(200);
    const refused = await rawRequest(gateway.url, spell("GET", "/things", lines(198)));
    expect([refused.status, refused.body.length]).toEqual([431, 0]);
  });

  test("a response may have 200, and becomes 502 if it has more", async () => {
    service.handler = answering(199);
    expect((await rawRequest(gateway.url, spell("GET", "/things"))).status).toBe(200);
    service.handler = answering(200);
    expect((await rawRequest(gateway.url, spell("GET", "/things"))).status).toBe(502);
  });

  test("with the same name are combined into one", async () => {
    const { headers } = await received(
      spell("GET", "/things", [
        ["X-A", "1"],
        ["X-A", "2"],
        ["Cookie", "a=1"],
        ["Cookie", "b=2"],
      ]),
    );
    expect([headerValue(headers, "x-a"), headerValue(headers, "cookie")]).toEqual(["1, 2", "a=1; b=2"]);
  });
});

describe("bodies", () => {
  test("a DELETE's body is forwarded", async () => {
    const { body, headers } = await received(spell("DELETE", "/things", { "Content-Length": "2" }, "hi"));
    expect([body.toString(), headerValue(headers, "content-length")]).toEqual(["hi", "2"]);
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])(
    "a %s without a body is forwarded with Content-Length 0",
    async (method) => {
      expect(headerValue((await received(spell(method, "/things"))).headers, "content-length")).toBe("0");
    },
  );

  test.each([
    ["complete if the service closes the connection", "end", true],
    ["broken if the connection is reset", "destroy", false],
  ] as const)("a response without a length is %s", async (_, end, complete) => {
    const { promise, resolve } = Promise.withResolvers<RawSocket>();
    service.handler = (_, socket) => {
      resolve(socket);
      return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello";
    };
    const client = await RawClient.connect(gateway.url);
    client.send(spell("GET", "/things"));
    // A reset discards bytes that the gateway has not read yet.
    await client.until(() => client.bodySoFar() === "hello" || null, "The beginning of the body");
    (await promise)[end]();
    const response = await client.response();
    client.destroy();
    expect({ status: response.status, complete: response.complete }).toEqual({ status: 200, complete });
    expect(response.body.toString()).toContain("hello");
  });
});

describe("a client that does not wait for its response", () => {
  test.each([
    ["sends another request", (client: RawClient) => client.send(spell("GET", "/things?second"))],
    ["closes its sending side", (client: RawClient) => client.end()],
  ])("and %s gets no response, even if the service was called", async (_, then) => {
    service.handler = () => null;
    const client = await RawClient.connect(gateway.url);
    client.send(spell("GET", "/things?first"));
    await waitFor(() => service.requests.length === 1);
    then(client);
    await client.untilClosed();
    expect(client.received.toString()).toBe("");
    expect(service.request.target).toBe("/things?first");
    await waitFor(() => gateway.logs().some(({ status }) => status === 499));
  });
});
