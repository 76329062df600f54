import { describe, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { openRouteStore, routeStoreBootFailure } from "@ostiary/lib/runtime/stores/route-store";
import { recordChanges } from "../../../stores/recorded-changes.ts";
import { duringTests } from "../../../support/during-tests.ts";
import type { CertificatePair } from "../../../support/http/certificates.ts";
import { freePort } from "../../../support/http/free-port.ts";
import { services, startEtcd } from "../../../support/stores/services.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { behavesByTls, type ClientFiles, files, TlsMaterial } from "./store-tls-suite.ts";

const material = new TlsMaterial();

describe.if(services().etcd.binary)("TLS to etcd", () => {
  const port = freePort();
  const served = {
    certFile: join(material.folder, "etcd.crt"),
    keyFile: join(material.folder, "etcd.key"),
  };

  const server = duringTests(() => {
    install(material.made.good);
    return startEtcd(
      [
        ...["--cert-file", served.certFile, "--key-file", served.keyFile],
        ...["--client-cert-auth", "--trusted-ca-file", material.made.ca.certFile],
      ],
      `https://127.0.0.1:${port}`,
    );
  });

  /** Replaces the files of the server's certificate. etcd reads them for every new connection. */
  function install({ certFile, keyFile }: CertificatePair): void {
    copyFileSync(certFile, served.certFile);
    copyFileSync(keyFile, served.keyFile);
  }

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
    show: async (pair) => install(pair),
    use: (given) => read(url(), given),
    useAsking: (given) => read(url(), given),
  });

  test("routes are written, watched and read, also after the CA was renewed", async () => {
    install(material.made.good);
    const trusted = material.growingFile();
    const store = await openRouteStore(url(), {
      tls: files("ROUTE_STORE", { ca: trusted, pair: material.made.client }),
    });
    const watched = await recordChanges(store, "tls/");
    await store.put("tls/a", "1");
    await waitFor(() => watched.calls() > 0, { what: "the change" });
    install(material.made.renewed);
    await server.restart();
    await expect(store.ping(2_000)).rejects.toThrow();
    trusted.trust(material.made.next);
    await waitFor(() => store.ping(2_000).then(() => true), { what: "a call under the renewed CA" });
    const before = watched.calls();
    await waitFor(
      async () => {
        await store.put("tls/b", crypto.randomUUID());
        return watched.calls() > before;
      },
      { what: "the watch to go on" },
    );
    await watched.close();
    await store.close();
  });
});
