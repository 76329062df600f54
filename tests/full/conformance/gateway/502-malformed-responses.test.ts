/**
 * Tests the framing of services' responses (RFC 9112). If two parsers could disagree about where a response
 * ends, the client gets 502, and no byte of the response reaches another client.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type LocalGateway, publicService, startLocalGateway } from "../../../support/gateway/gateway.ts";
import { OK, RawClient, RawUpstream, rawRequest, spell } from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/index.ts";

const SECRET = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
const service = new RawUpstream();
let gateway: LocalGateway;

beforeAll(async () => {
  gateway = await startLocalGateway();
  await gateway.publish({
    things: publicService(service.url, { path: "/things", methods: ["GET", "HEAD", "POST"] }),
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

const ask = (method = "GET") => rawRequest(gateway.url, spell(method, "/things"));

// GW-118, GW-166
test("a malformed response is 502, and its connection is closed", async () => {
  service.handler = () => "HTTP/1.1 200 OK\nX-A: 1\nContent-Length: 2\n\nok";
  const response = await ask();
  expect(response.status).toBe(502);
  expect(JSON.parse(response.body.toString())).toMatchObject({ error: { code: "SERVICE_UNAVAILABLE" } });
  expect(response.head).not.toContain("x-a");
  const carried = service.sockets[service.request.connection - 1];
  await waitFor(() => carried?.closed);
  service.handler = () => OK;
  expect((await ask()).body.toString()).toBe("ok");
});

// GW-117
test("a response whose body becomes malformed closes the connection to the client", async () => {
  const client = await RawClient.connect(gateway.url);
  service.handler = () => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
  client.send(spell("GET", "/things"));
  await client.until(() => client.bodySoFar() === "hello" || null, "The first chunk");
  const carried = service.sockets[service.request.connection - 1];
  carried?.send(`5\nworld\r\n0\r\n\r\n${SECRET}`);
  const response = await client.response();
  expect(response).toMatchObject({ status: 200, complete: false });
  expect(client.received.toString()).not.toContain("world");
  await waitFor(() => carried?.closed);
});

// GW-126
describe("bytes after a response reach no other client:", () => {
  test.each([
    ["a second response", "GET", OK + SECRET],
    [
      "the body of a 204",
      "GET",
      `HTTP/1.1 204 No Content\r\nContent-Length: ${SECRET.length}\r\n\r\n${SECRET}`,
    ],
    ["the body of a 304", "GET", `HTTP/1.1 304 Not Modified\r\n\r\n${SECRET}`],
    [
      "the body of a response to HEAD",
      "HEAD",
      `HTTP/1.1 200 OK\r\nContent-Length: ${SECRET.length}\r\n\r\n${SECRET}`,
    ],
    [
      "the rest of a chunked body",
      "GET",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SECRET}`,
    ],
  ])("%s", async (_, method, answer) => {
    service.handler = () => answer;
    expect((await ask(method)).body.toString()).not.toContain("secret");
    service.handler = () => OK;
    const others = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(others.map(({ status, body }) => `${status} ${body}`)).toEqual(Array(20).fill("200 ok"));
  });
});
