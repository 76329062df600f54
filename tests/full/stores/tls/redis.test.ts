import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openCounterStore } from "@ostiary/lib/runtime/stores/counter-store";
import { Redis } from "ioredis";
import type { CertificatePair } from "../../../support/http/certificates.ts";
import { freePort } from "../../../support/http/free-port.ts";
import type { TestServer } from "../../../support/stores/server.ts";
import { services, startRedis } from "../../../support/stores/services.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { behavesByTls, type ClientFiles, files, message, TlsMaterial } from "./store-tls-suite.ts";

const material = new TlsMaterial();

function tlsSettings(port: number, authClients: "yes" | "no"): string[] {
  const { ca, good } = material.made;
  return [
    ...["--tls-port", String(port), "--tls-ca-cert-file", ca.certFile, "--tls-auth-clients", authClients],
    ...["--tls-cert-file", good.certFile, "--tls-key-file", good.keyFile],
  ];
}

describe.if(services().redis.binary)("TLS to Redis", () => {
  let server: TestServer;
  let admin: Redis;
  let port: number;

  beforeAll(async () => {
    port = freePort();
    server = await startRedis(tlsSettings(port, "yes"));
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await server.close();
  });

  const show = async ({ certFile, keyFile }: CertificatePair) => {
    await admin.config("SET", "tls-cert-file", certFile, "tls-key-file", keyFile);
  };

  async function count(address: string, given: ClientFiles): Promise<void> {
    const store = await openCounterStore(address, { tls: files("COUNTER_STORE", given) });
    try {
      await store.increment("tls", 60);
    } finally {
      await store.close();
    }
  }
  const url = () => `rediss://localhost:${port}/1`;

  behavesByTls(material, {
    peer: "COUNTER_STORE",
    server: () => "the counter store",
    show,
    use: (given) => count(url(), given),
    useAsking: (given) => count(url(), given),
  });

  test("a renewed CA file is used for the next connection", async () => {
    await show(material.made.good);
    const trusted = material.growingFile();
    const tls = files("COUNTER_STORE", { ca: trusted, pair: material.made.client });
    const store = await openCounterStore(url(), { tls });
    await show(material.made.renewed);
    await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await expect(store.increment("renewed", 60)).rejects.toThrow();
    trusted.trust(material.made.next);
    await waitFor(() => store.increment("renewed", 60).then(() => true), { what: "a count" });
    await store.close();
  });
});

describe.if(services().redis.binary)("TLS to a Redis Cluster", () => {
  test("is used for each node with rediss+cluster://", async () => {
    const port = freePort();
    const cluster = "--cluster-enabled yes --cluster-announce-ip 127.0.0.1 --tls-cluster yes".split(" ");
    const server = await startRedis([...cluster, ...tlsSettings(port, "no")]);
    const admin = new Redis(server.url);
    await admin.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    await waitFor(async () => String(await admin.call("CLUSTER", "INFO")).includes("cluster_state:ok"));
    admin.disconnect();
    const url = `rediss+cluster://localhost:${port}`;
    const store = await openCounterStore(url, { tls: files("COUNTER_STORE", { ca: material.made.ca }) });
    await waitFor(async () => (await store.increment("clustered", 60)).count > 0, { what: "a count" });
    await store.close();
    const other = await openCounterStore(url, { tls: files("COUNTER_STORE", { ca: material.made.next }) });
    expect(await message(other.increment("clustered", 60))).toContain("COUNTER_STORE_URL");
    await other.close();
    await server.close();
  });
});
