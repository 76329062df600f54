/** Tests TLS with private CAs from the gateway to the identity service, the audit service and the key set. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { boundedCall, CallFailed } from "@ostiary/lib/runtime/bounded-call";
import { type PeerTls, peerTls } from "@ostiary/lib/runtime/config";
import { createValidationClient } from "../../../apps/gateway/admission/validation-client.ts";
import {
  type CertificateAuthority,
  type CertificatePair,
  Certificates,
} from "../../support/http/certificates.ts";
import { rejection } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const certificates = new Certificates();
const servers: Bun.Server<undefined>[] = [];
let ca: CertificateAuthority;
let next: CertificateAuthority;

beforeAll(() => {
  ca = certificates.authority("ca");
  next = certificates.authority("next");
});
afterAll(() => Promise.all(servers.map((server) => server.stop(true))));

/** Starts a TLS server that responds with the caller's port, or calls `respond`. */
function serve(
  pair: CertificatePair,
  options: { clients?: string; respond?: () => Response; port?: number } = {},
) {
  const { clients, respond, port = 0 } = options;
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    tls: {
      cert: pair.cert,
      key: readFileSync(pair.keyFile, "utf8"),
      ...(clients !== undefined && { ca: clients, requestCert: true, rejectUnauthorized: true }),
    },
    fetch: (request, self) => respond?.() ?? new Response(String(self.requestIP(request)?.port)),
  });
  servers.push(server);
  return server;
}

const filesOf = (given: { ca?: { certFile: string }; pair?: CertificatePair }) =>
  peerTls(
    {
      AUDIT_CA_FILE: given.ca?.certFile,
      AUDIT_CERT_FILE: given.pair?.certFile,
      AUDIT_KEY_FILE: given.pair?.keyFile,
    },
    "AUDIT",
  );

const call = (port: number | undefined, tls: PeerTls | undefined) =>
  boundedCall({ method: "POST", url: `https://localhost:${port}/`, body: "{}", timeoutMs: 5_000, tls });

async function failure(port: number | undefined, tls: PeerTls | undefined): Promise<string> {
  const error = await rejection(call(port, tls));
  expect(error).toBeInstanceOf(CallFailed);
  return error instanceof Error ? error.message : "";
}

// OP-21
describe("a call over TLS", () => {
  test("succeeds with the configured CA, and calls share one connection", async () => {
    const { port } = serve(ca.sign("good"));
    const tls = filesOf({ ca });
    const first = (await call(port, tls)).text;
    for (let each = 0; each < 5; each++) expect((await call(port, tls)).text).toBe(first);
  });

  test("fails with another CA, and without a configured one", async () => {
    const { port } = serve(ca.sign("good"));
    expect(await failure(port, filesOf({ ca: next }))).toMatch(/SELF_SIGNED|UNABLE_TO/);
    expect(await failure(port, undefined)).toMatch(/SELF_SIGNED|UNABLE_TO/);
  });

  test("fails if the certificate is for another name", async () => {
    const { port } = serve(ca.sign("elsewhere", { names: "DNS:identity.example" }));
    expect(await failure(port, filesOf({ ca }))).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  test("presents the client certificate to a server that requires one", async () => {
    const { port } = serve(ca.sign("good"), { clients: ca.cert });
    await failure(port, filesOf({ ca }));
    await failure(port, filesOf({ ca, pair: next.sign("stranger") }));
    expect((await call(port, filesOf({ ca, pair: ca.sign("client") }))).status).toBe(200);
  });

  // OP-22
  test("trusts a renewed CA without a restart", async () => {
    const clock = manualClock();
    const AUDIT_CA_FILE = join(certificates.folder, "renewed.pem");
    copyFileSync(ca.certFile, AUDIT_CA_FILE);
    const tls = peerTls({ AUDIT_CA_FILE }, "AUDIT", clock);
    const { port } = serve(next.sign("renewed"));
    await failure(port, tls);
    writeFileSync(AUDIT_CA_FILE, ca.cert + next.cert);
    clock.advance(2_000);
    expect((await call(port, tls)).status).toBe(200);
  });
});

// OP-21
describe("each peer has its own TLS files:", () => {
  test("the identity service", async () => {
    const respond = () => Response.json({ valid: false });
    const { port } = serve(ca.sign("identity"), { respond });
    const config = {
      CREDENTIAL_VALIDATE_URL: `https://localhost:${port}/validate`,
      VALIDATE_TIMEOUT_MS: 5_000,
    };
    const trusting = createValidationClient({ ...config, CREDENTIAL_VALIDATE_CA_FILE: ca.certFile });
    expect(await trusting.credential("acme-k-2-x")).toEqual({ valid: false });
    const others = createValidationClient({ ...config, CREDENTIAL_VALIDATE_CA_FILE: next.certFile });
    await expect(others.credential("acme-k-2-x")).rejects.toThrow();
  });
});
