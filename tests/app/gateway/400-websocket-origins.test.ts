/**
 * Tests which origins may open a WebSocket. CORS does not apply to WebSockets: a browser lets any page read
 * the messages of any server, so the gateway must check the Origin header.
 */
import { describe, expect, test } from "bun:test";
import type { LocalGateway } from "../../support/gateway/gateway.ts";
import { chat, WebSocketBed } from "../../support/gateway/websocket-bed.ts";
import { RawClient, spell } from "../../support/http/raw-http.ts";
import { useBed, useGateway } from "./bed.ts";

const bed = useBed(new WebSocketBed());
const listed = useGateway(
  { ...bed.env, ALLOWED_ORIGINS: "https://a.example, https://b.example:8443" },
  () => ({ chat: chat(bed.url) }),
);

async function handshake(gateway: LocalGateway, origin: Record<string, string>): Promise<number> {
  const client = await RawClient.connect(gateway.url);
  client.send(
    spell("GET", "/public/a", {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...origin,
    }),
  );
  const { status } = await client.response();
  client.destroy();
  return status;
}

// GW-128
describe("with ALLOWED_ORIGINS", () => {
  test.each(["https://a.example", "https://b.example:8443"])("a page of %s connects", async (Origin) => {
    expect(await handshake(listed, { Origin })).toBe(101);
  });

  test("a client that sends no Origin header, such as a script, connects", async () => {
    expect(await handshake(listed, {})).toBe(101);
  });

  test.each([
    "https://evil.example",
    "http://a.example",
    "https://a.example:8443",
    "https://a.example.evil.example",
    "https://A.example",
    "https://a.example/",
    "null",
    "",
  ])("a page of %p is refused, and the service is not called", async (Origin) => {
    expect(await handshake(listed, { Origin })).toBe(400);
    expect(bed.sockets).toHaveLength(0);
  });
});

test("without ALLOWED_ORIGINS, pages of every origin may connect", async () => {
  expect(await handshake(bed.gateway, { Origin: "https://anybody.example" })).toBe(101);
});
