import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { connect } from "node:tls";
import { atTestEnd } from "../../support/at-test-end.ts";
import { type CertificatePair, Certificates } from "../../support/certificates.ts";
import { publicService } from "../../support/gateway.ts";
import { startGateway } from "../../support/gateway-process.ts";
import { useService } from "./bed.ts";

/** Provides a service, two certificates, and gateways that each start with the first certificate. */
export function useTlsGateways() {
  const certificates = new Certificates();
  const first = certificates.make("first");
  const second = certificates.make("second");
  const service = useService();

  async function start(env: Record<string, string> = {}) {
    const files = certificates.make(`installed-${crypto.randomUUID()}`);
    install(first, files);
    const { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE } = files;
    const gateway = await startGateway({
      services: { things: publicService(service.url, { path: "/things", methods: ["GET", "POST"] }) },
      env: { TLS_CERT_FILE, TLS_KEY_FILE, FORWARD_CLIENT_ADDRESS: "true", ...env },
    });
    atTestEnd(() => gateway.kill());
    const url = gateway.url.replace("http:", "https:");
    return { gateway, url, files, renew: () => install(second, files) };
  }

  return { certificates, first, second, trusted: [first.cert, second.cert], service, start };
}

function install(pair: CertificatePair, into: CertificatePair): void {
  copyFileSync(pair.certFile, into.certFile);
  copyFileSync(pair.keyFile, into.keyFile);
}

/**
 * Opens a connection to a server. Returns the common name of the server's certificate, and the protocol that the
 * server selects by ALPN, or null for none.
 */
export async function handshake(url: string, ALPNProtocols: string[] = []) {
  const port = Number(new URL(url).port);
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols });
  await once(socket, "secureConnect");
  const name = String(socket.getPeerCertificate().subject.CN);
  const protocol = typeof socket.alpnProtocol === "string" ? socket.alpnProtocol : null;
  socket.destroy();
  return { name, protocol };
}
