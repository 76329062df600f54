/** Tests of behaviors of the runtime that the gateway's README describes. If one fails, update the README. */

import { describe, expect, test } from "bun:test";
import { useGateway, useService } from "../../../app/gateway/bed.ts";
import { publicService, startLocalGateway } from "../../../support/gateway/gateway.ts";
import {
  headerValue,
  RawClient,
  type RawRequest,
  rawRequest,
  spell,
} from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/index.ts";

const service = useService();
const gateway = useGateway({}, () => ({
  things: publicService(service.url, {
    path: "/things",
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"],
  }),
  thing: publicService(service.url, { path: "/things/{id}", methods: ["GET"] }),
}));

async function received(bytes: string): Promise<RawRequest> {
  expect((await rawRequest(gateway.url, bytes)).status).toBe(200);
  return service.request;
}

// GW-8
test("the authority of a target in absolute form is dropped, and Host takes its place", async () => {
  const forwarding = await startLocalGateway({ FORWARD_CLIENT_ADDRESS: "true" });
  await forwarding.publish({ things: publicService(service.url, { path: "/things", methods: ["GET"] }) });
  await rawRequest(forwarding.url, spell("GET", "http://user:secret@elsewhere.test:81/a/../things?b=c"));
  expect(service.request.target).toBe("/things?b=c");
  expect(headerValue(service.request.headers, "x-forwarded-host")).toBe("gateway.test");
  expect(service.request.head).not.toMatch(/elsewhere|secret/);
  await forwarding.close();
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
