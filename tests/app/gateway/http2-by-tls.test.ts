/** Tests HTTP/2 over TLS: client and gateway negotiate HTTP/1.1 or HTTP/2 with ALPN on the same port. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Http2Client } from "../../support/http2-client.ts";
import { services, waitFor } from "../../support/index.ts";
import { headerValue, OK } from "../../support/raw-http.ts";
import { handshake, useTlsGateways } from "./tls-bed.ts";

setDefaultTimeout(60_000);

const { second, trusted, service, start } = useTlsGateways();

const chosen = async (url: string, offered: string[]) => (await handshake(url, offered)).protocol;

// GW-170
describe.skipIf(!services().etcd.real)("a gateway with a certificate and HTTP/2", () => {
  test("serves HTTP/2 or HTTP/1.1, as the client offers", async () => {
    const { url } = await start({ HTTP2_ENABLED: "true" });
    expect(await chosen(url, ["h2", "http/1.1"])).toBe("h2");
    expect(await chosen(url, ["h2"])).toBe("h2");
    expect(await chosen(url, ["http/1.1"])).not.toBe("h2");
    expect(await chosen(url, [])).not.toBe("h2");
    const client = new Http2Client(url, trusted);
    const answer = await client.ask("/things", { ":method": "POST" }, "hello");
    expect([answer.status, answer.body]).toEqual([200, "ok"]);
    expect(service.request.body.toString()).toBe("hello");
    expect(headerValue(service.request.headers, "x-forwarded-proto")).toBe("https");
    expect(headerValue(service.request.headers, "x-forwarded-for")).toBe("127.0.0.1");
    const plain = await fetch(`${url}/things`, { tls: { ca: trusted } });
    expect(await plain.text()).toBe("ok");
    client.close();
  });

  test("serves only HTTP/1.1 unless HTTP/2 is enabled", async () => {
    const { url } = await start();
    expect(await chosen(url, ["h2", "http/1.1"])).not.toBe("h2");
  });

  // GW-156
  test("serves a renewed certificate, and sends GOAWAY to clients that are connected with the old one", async () => {
    const { url, renew } = await start({ HTTP2_ENABLED: "true" });
    const client = new Http2Client(url, trusted);
    service.handler = ({ target }) => (target === "/things?slow" ? null : OK);
    const slow = client.ask("/things?slow");
    await waitFor(() => service.requests.length === 1);
    renew();
    await waitFor(() => client.goneAway, { timeoutMs: 30_000 });
    service.sockets.at(-1)?.send(OK);
    expect((await slow).body).toBe("ok");
    const renewed = new Http2Client(url, [second.cert]);
    expect((await renewed.ask("/things")).status).toBe(200);
    expect(await chosen(url, ["h2", "http/1.1"])).toBe("h2");
    renewed.close();
    client.close();
  });
});
