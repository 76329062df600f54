/** Tests subprotocols and extensions in the handshake of a WebSocket through the gateway. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { publicService } from "../../support/gateway/gateway.ts";
import { acceptance, handshake } from "../../support/gateway/raw-websocket.ts";
import {
  headerValue,
  headerValues,
  RawClient,
  type RawResponse,
  RawUpstream,
} from "../../support/http/raw-http.ts";
import { useGateway } from "./bed.ts";

const PROTOCOL = "Sec-WebSocket-Protocol";
const EXTENSIONS = "Sec-WebSocket-Extensions";

/** Additional header lines of the service's 101 response. */
let fields: string[] = [];
/** The bytes that the service sends right after its 101 response. */
let behind: Uint8Array = new Uint8Array();

const service = new RawUpstream((request) => {
  const head = Buffer.from(acceptance(request, ...fields), "latin1");
  return Buffer.concat([head, behind]);
});
const gateway = useGateway({}, () => ({
  chat: publicService(service.url, { path: "/chat", methods: ["GET"] }),
}));
afterAll(() => service.close());
beforeEach(() => {
  service.requests.length = 0;
  fields = [];
  behind = new Uint8Array();
});

/** Sends a handshake with these headers. Returns the response and the client. */
async function open(
  offered: Record<string, string> = {},
): Promise<{ response: RawResponse; client: RawClient }> {
  const client = await RawClient.connect(gateway.url);
  client.send(handshake("/chat", offered));
  return { response: await client.response(), client };
}
const offers = (name: string) => service.requests.map(({ headers }) => headerValue(headers, name));

// GW-129
describe("when a client offers subprotocols,", () => {
  test("the client gets the service's choice", async () => {
    fields = [`${PROTOCOL}: v2.chat`];
    const { response, client } = await open({ [PROTOCOL]: "v1.chat, v2.chat" });
    expect([response.status, headerValues(response.headers, PROTOCOL)]).toEqual([101, ["v2.chat"]]);
    expect(offers(PROTOCOL)).toEqual(["v1.chat, v2.chat"]);
    client.destroy();
  });

  test("a service may choose none, and the WebSocket still opens", async () => {
    const { response, client } = await open({ [PROTOCOL]: "v1.chat, v2.chat" });
    expect([response.status, headerValues(response.headers, PROTOCOL)]).toEqual([101, []]);
    // The runtime rejects a 101 response without a subprotocol, so the gateway sends a second handshake
    // without it.
    expect(offers(PROTOCOL)).toEqual(["v1.chat, v2.chat", null]);
    client.destroy();
  });

  test("the response is 502 if the service chooses one that was not offered", async () => {
    fields = [`${PROTOCOL}: v3.chat`];
    const { response, client } = await open({ [PROTOCOL]: "v1.chat, v2.chat" });
    expect(response.status).toBe(502);
    expect(service.requests).toHaveLength(1);
    client.destroy();
  });
});

// GW-129
describe("compression", () => {
  test("is accepted from no client and offered to no service", async () => {
    const { response, client } = await open({ [EXTENSIONS]: "permessage-deflate; client_max_window_bits" });
    expect([response.status, headerValue(response.headers, EXTENSIONS)]).toEqual([101, null]);
    expect(offers(EXTENSIONS)).toEqual([null]);
    client.destroy();
  });

  test("that was not offered is 502 in the service's handshake, and 1014 in a message", async () => {
    fields = [`${EXTENSIONS}: permessage-deflate`];
    expect((await open()).response.status).toBe(502);
    fields = [];
    const deflated = Bun.deflateSync(Buffer.alloc(100_000));
    // A text frame with the compression bit (RSV1) set.
    behind = Buffer.concat([Buffer.from([0xc1, deflated.byteLength]), deflated]);
    expect(deflated.byteLength).toBeLessThan(126);
    const { client } = await open();
    const closed = Buffer.from([0x88, 2, 1014 >> 8, 1014 & 0xff]);
    await client.until(() => client.received.includes(closed) || null, "The close of the WebSocket");
    client.destroy();
  });
});
