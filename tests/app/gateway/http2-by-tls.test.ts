/** Tests HTTP/2 over TLS: client and gateway negotiate HTTP/1.1 or HTTP/2 with ALPN on the same port. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { connect } from "node:tls";
import { type CertificatePair, Certificates } from "../../support/certificates.ts";
import { publicService } from "../../support/gateway.ts";
import { startGateway } from "../../support/gateway-process.ts";
import { Http2Client } from "../../support/http2-client.ts";
import { type RunningProcess, services, waitFor } from "../../support/index.ts";
import { headerValue, OK, RawUpstream } from "../../support/raw-http.ts";

setDefaultTimeout(60_000);

const certificates = new Certificates();
let first: CertificatePair;
let second: CertificatePair;

beforeAll(() => {
  first = certificates.make("first");
  second = certificates.make("second");
});

// GW-170
describe.skipIf(!services().etcd.real)("a gateway with a certificate and HTTP/2", () => {
  const service = new RawUpstream();
  const started: RunningProcess[] = [];

  afterEach(async () => {
    await Promise.all(started.splice(0).map((each) => each.kill()));
    service.handler = () => OK;
    service.requests.length = 0;
  });
  afterAll(() => service.close());

  async function start(env: Record<string, string>): Promise<{ url: string; files: CertificatePair }> {
    const files = certificates.make(`installed-${crypto.randomUUID()}`);
    install(first, files);
    const gateway = await startGateway({
      services: { things: publicService(service.url, { path: "/things", methods: ["GET", "POST"] }) },
      env: {
        TLS_CERT_FILE: files.certFile,
        TLS_KEY_FILE: files.keyFile,
        FORWARD_CLIENT_ADDRESS: "true",
        ...env,
      },
    });
    started.push(gateway);
    return { url: gateway.url.replace("http:", "https:"), files };
  }

  function install(pair: CertificatePair, into: CertificatePair): void {
    copyFileSync(pair.certFile, into.certFile);
    copyFileSync(pair.keyFile, into.keyFile);
  }

  const trusted = () => [first.cert, second.cert];

  /** Returns the protocol that the server selects when a client offers these by ALPN, or null for none. */
  function chosen(url: string, offered: string[]): Promise<string | null> {
    const { promise, resolve, reject } = Promise.withResolvers<string | null>();
    const options = { port: Number(new URL(url).port), host: "127.0.0.1", rejectUnauthorized: false };
    const socket = connect({ ...options, ALPNProtocols: offered });
    socket.on("secureConnect", () => {
      resolve(typeof socket.alpnProtocol === "string" ? socket.alpnProtocol : null);
      socket.destroy();
    });
    socket.on("error", reject);
    return promise;
  }

  test("serves HTTP/2 or HTTP/1.1, as the client offers", async () => {
    const { url } = await start({ HTTP2_ENABLED: "true" });
    expect(await chosen(url, ["h2", "http/1.1"])).toBe("h2");
    expect(await chosen(url, ["h2"])).toBe("h2");
    expect(await chosen(url, ["http/1.1"])).not.toBe("h2");
    expect(await chosen(url, [])).not.toBe("h2");
    const client = new Http2Client(url, trusted());
    const answer = await client.ask("/things", { ":method": "POST" }, "hello");
    expect([answer.status, answer.body]).toEqual([200, "ok"]);
    expect(service.request.body.toString()).toBe("hello");
    expect(headerValue(service.request.headers, "x-forwarded-proto")).toBe("https");
    expect(headerValue(service.request.headers, "x-forwarded-for")).toBe("127.0.0.1");
    const plain = await fetch(`${url}/things`, { tls: { ca: trusted() } });
    expect(await plain.text()).toBe("ok");
    client.close();
  });

  test("serves only HTTP/1.1 unless HTTP/2 is enabled", async () => {
    const { url } = await start({});
    expect(await chosen(url, ["h2", "http/1.1"])).not.toBe("h2");
  });

  // GW-156
  test("serves a renewed certificate, and sends GOAWAY to clients that are connected with the old one", async () => {
    const { url, files } = await start({ HTTP2_ENABLED: "true" });
    const client = new Http2Client(url, trusted());
    service.handler = ({ target }) => (target === "/things?slow" ? null : OK);
    const slow = client.ask("/things?slow");
    await waitFor(() => service.requests.length === 1);
    install(second, files);
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
