import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { openRouteStore, routeStoreBootFailure } from "@ostiary/lib/runtime/stores/route-store";
import type { CertificatePair } from "../../support/certificates.ts";
import { freePort } from "../../support/free-port.ts";
import type { TestServer } from "../../support/server.ts";
import { services, startEtcd } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";
import { behavesByTls, type ClientFiles, files, message, TlsMaterial } from "./store-tls-suite.ts";

setDefaultTimeout(60_000);

const material = new TlsMaterial();

/** Returns the common name of the certificate that a server presents. */
async function shown(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  socket.on("secureConnect", () => {
    resolve(String(socket.getPeerCertificate().subject.CN));
    socket.destroy();
  });
  socket.on("error", reject);
  return promise;
}

describe.if(services().etcd.binary)("TLS to etcd", () => {
  let server: TestServer;
  let port: number;
  const served = {
    certFile: join(material.folder, "etcd.crt"),
    keyFile: join(material.folder, "etcd.key"),
  };

  beforeAll(async () => {
    port = freePort();
    install(material.made.good);
    server = await startEtcd(
      [
        ...["--cert-file", served.certFile, "--key-file", served.keyFile],
        ...["--client-cert-auth", "--trusted-ca-file", material.made.ca.certFile],
      ],
      `https://127.0.0.1:${port}`,
    );
  });
  afterAll(() => server.close());

  /** Replaces the files of the server's certificate. etcd reads them for every new connection. */
  function install({ certFile, keyFile }: CertificatePair): void {
    copyFileSync(certFile, served.certFile);
    copyFileSync(keyFile, served.keyFile);
  }

  const show = async (pair: CertificatePair) => {
    install(pair);
    const name = pair === material.made.good ? "good" : undefined;
    if (name !== undefined) await waitFor(async () => (await shown(port)) === name);
  };

  async function read(address: string, given: ClientFiles): Promise<void> {
    const store = await openRouteStore(address, { tls: files("ROUTE_STORE", given) });
    try {
      await store.ping(2_000);
    } catch (error) {
      const { failure, refused } = routeStoreBootFailure(error);
      expect(refused).toBe(true);
      throw failure;
    } finally {
      await store.close();
    }
  }
  const url = () => `https://localhost:${port}`;

  behavesByTls(material, {
    peer: "ROUTE_STORE",
    server: () => "the route store",
    show,
    use: (given) => read(url(), given),
    useAsking: (given) => read(url(), given),
  });

  test("a server without TLS cannot be used with https://", async () => {
    const store = await openRouteStore(`https://localhost:${new URL(server.url).port}`, {});
    expect(await message(store.ping(1_000))).toContain("ROUTE_STORE_URL");
    await store.close();
  });

  test("routes are written, watched and read, also after the CA was renewed", async () => {
    await show(material.made.good);
    const trusted = material.growingFile();
    const store = await openRouteStore(url(), {
      tls: files("ROUTE_STORE", { ca: trusted, pair: material.made.client }),
    });
    let changes = 0;
    const watch = await store.watch("tls/", {
      changed: () => {
        changes += 1;
      },
      interrupted: () => {
        changes += 1;
      },
    });
    await store.put("tls/a", "1");
    await waitFor(() => changes > 0, { what: "the change" });
    install(material.made.renewed);
    await server.restart();
    await expect(store.ping(2_000)).rejects.toThrow();
    trusted.trust(material.made.next);
    await waitFor(() => store.ping(2_000).then(() => true), { what: "a call under the renewed CA" });
    const before = changes;
    await waitFor(
      async () => {
        await store.put("tls/b", crypto.randomUUID());
        return changes > before;
      },
      { what: "the watch to go on" },
    );
    await watch.close();
    await store.close();
  });
});
