import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, copyFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { type Peer, peerTls } from "@ostiary/lib/runtime/config";
import { openCounterStore } from "@ostiary/lib/runtime/stores/counter-store";
import { openDatabase, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { openRouteStore, routeStoreBootFailure } from "@ostiary/lib/runtime/stores/route-store";
import { Redis } from "ioredis";
import postgres from "postgres";
import { type CertificateAuthority, type CertificatePair, Certificates } from "../support/certificates.ts";
import { freePort } from "../support/free-port.ts";
import { rejection } from "../support/rejection.ts";
import type { TestServer } from "../support/server.ts";
import { services, startEtcd, startPostgres, startRedis } from "../support/services.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(60_000);

/** TLS to the stores: what is trusted, what is refused, and what an operator is told then. */
const certificates = new Certificates();
afterAll(() => certificates.remove());

interface Material {
  ca: CertificateAuthority;
  /** Whom nobody trusts until they are told to. */
  next: CertificateAuthority;
  good: CertificatePair;
  elsewhere: CertificatePair;
  expired: CertificatePair;
  renewed: CertificatePair;
  client: CertificatePair;
  /** A client of the other authority. */
  stranger: CertificatePair;
}
let made: Material;

beforeAll(() => {
  const [ca, next] = [certificates.authority("ca"), certificates.authority("next")];
  made = {
    ca,
    next,
    good: ca.sign("good"),
    elsewhere: ca.sign("elsewhere", { names: "DNS:store.example" }),
    expired: ca.sign("expired", { expired: true }),
    renewed: next.sign("renewed"),
    client: ca.sign("client"),
    stranger: next.sign("stranger"),
  };
});

type ClientFiles = { ca?: { cert_file: string }; pair?: CertificatePair };

/** As `checkPeerTls` lets it pass. */
function files(peer: Peer, { ca, pair }: ClientFiles) {
  const config = {
    [`${peer}_CA_FILE`]: ca?.cert_file,
    [`${peer}_CERT_FILE`]: pair?.cert_file,
    [`${peer}_KEY_FILE`]: pair?.key_file,
  };
  return peerTls(config, peer);
}

/** The common name of the certificate that a server shows; for PostgreSQL after its own greeting. */
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

async function message(work: Promise<unknown>): Promise<string> {
  const error = await rejection(work);
  expect(error).toBeInstanceOf(StoreUnavailable);
  return error instanceof Error ? error.message : "";
}

/** What every store must do with the certificate that its server shows. */
interface StoreBed {
  peer: Peer;
  /** The server's name in the sentences. */
  server(): string;
  show(pair: CertificatePair): Promise<void>;
  /** Opens the store, does one thing, and closes it; rejects with what an operator is told at boot. */
  use(files: ClientFiles): Promise<void>;
  /** What the server makes of clients without a certificate, if there is a place that asks for one. */
  useAsking(files: ClientFiles): Promise<void>;
}

function suite(bed: StoreBed) {
  const url = `${bed.peer}_URL`;
  const untrusted = () =>
    `The TLS certificate of ${bed.server()} (${url}) is signed by no CA that is trusted here: name the file of its CA by ${bed.peer}_CA_FILE.`;

  test("a certificate of the CA that was named is good", async () => {
    await bed.show(made.good);
    await bed.use({ ca: made.ca, pair: made.client });
  });

  test("another CA's is refused, and so is a private one's where none was named", async () => {
    await bed.show(made.good);
    expect(await message(bed.use({ ca: made.next, pair: made.client }))).toBe(untrusted());
    expect(await message(bed.use({}))).toBe(untrusted());
  });

  test("one for another host is refused", async () => {
    await bed.show(made.elsewhere);
    expect(await message(bed.use({ ca: made.ca, pair: made.client }))).toBe(
      `The TLS certificate of ${bed.server()} is for another host than ${url} names: correct the host, or have the name put into the certificate.`,
    );
  });

  test("one that has expired is refused", async () => {
    await bed.show(made.expired);
    expect(await message(bed.use({ ca: made.ca, pair: made.client }))).toBe(
      `The TLS certificate of ${bed.server()} (${url}) has expired: renew it there.`,
    );
  });

  test("a server that asks who calls lets in its clients alone", async () => {
    await bed.show(made.good);
    const files = `${bed.peer}_CERT_FILE and ${bed.peer}_KEY_FILE`;
    expect(await message(bed.useAsking({ ca: made.ca }))).toContain(files);
    expect(await message(bed.useAsking({ ca: made.ca, pair: made.stranger }))).toBe(
      `The server at ${bed.server()} (${url}) does not accept the client's TLS certificate: name one that it trusts by ${files}.`,
    );
    await bed.useAsking({ ca: made.ca, pair: made.client });
  });
}

/** A file of CAs to which another one is added while it is used. */
function growingFile(): { cert_file: string; trust(ca: CertificatePair): void } {
  const cert_file = join(certificates.folder, `${crypto.randomUUID()}.pem`);
  writeFileSync(cert_file, made.ca.cert);
  return { cert_file, trust: (ca) => writeFileSync(cert_file, `${made.ca.cert}${ca.cert}`) };
}

describe.if(services().postgres.binary)("PostgreSQL", () => {
  let server: TestServer;
  let admin: postgres.Sql;
  let port: number;
  let data: string;

  beforeAll(async () => {
    server = await startPostgres();
    port = Number(new URL(server.url).port);
    admin = postgres(server.url, { max: 1, onnotice: () => {} });
    for (const name of ["plain", "asking"]) await admin.unsafe(`create database ${name}`);
    const [row] = await admin.unsafe("show data_directory");
    data = String(row?.data_directory);
    const rules = [
      "hostssl asking all all trust clientcert=verify-ca",
      "hostnossl plain all all reject",
      "host all all all trust",
      "local all all trust",
    ];
    const lines = rules.map((rule) => `('${rule}')`).join(", ");
    await admin.unsafe(`copy (select * from (values ${lines}) as rules) to '${data}/pg_hba.conf'`);
    install(made.ca.cert_file, "ca.crt");
    await admin.unsafe("alter system set ssl_ca_file = 'ca.crt'");
  });
  afterAll(async () => {
    await admin.end();
    await server.close();
  });

  /** The server's own account must own what it reads. */
  function install(from: string, name: string): void {
    const to = join(data, name);
    copyFileSync(from, to);
    const { uid, gid } = statSync(data);
    chownSync(to, uid, gid);
  }

  async function show(pair: CertificatePair): Promise<void> {
    install(pair.cert_file, "server.crt");
    install(pair.key_file, "server.key");
    await admin.unsafe("alter system set ssl = on");
    const before = await loadedAt();
    await admin.unsafe("select pg_reload_conf()");
    // the server reads its certificate before it takes the next connection
    await waitFor(async () => (await loadedAt()) !== before, { what: "the certificate" });
  }

  async function loadedAt(): Promise<string> {
    const [row] = await admin.unsafe("select pg_conf_load_time()::text as at");
    return String(row?.at);
  }

  const url = (database: string, host = "localhost") =>
    `postgres://postgres@${host}:${port}/${database}?sslmode=verify-full`;

  async function open(database: string, given: ClientFiles, host?: string): Promise<void> {
    const opened = await openDatabase(url(database, host), {
      namespace: "test",
      tls: files("DATABASE", given),
      pool_max: 1,
    });
    await opened.close();
  }

  suite({
    peer: "DATABASE",
    server: () => `localhost:${port}`,
    show,
    use: (given) => open("plain", given),
    useAsking: (given) => open("asking", given),
  });

  test("an address is a name like any other, and must be in the certificate", async () => {
    await show(made.good);
    await open("plain", { ca: made.ca }, "127.0.0.1");
    await show(made.ca.sign("named", { names: "DNS:localhost" }));
    expect(await message(open("plain", { ca: made.ca }, "127.0.0.1"))).toContain("is for another host");
  });

  test.each(["require", "verify-ca"])("sslmode=%s checks the certificate too", async (mode) => {
    await show(made.elsewhere);
    const opened = openDatabase(url("plain").replace("verify-full", mode), {
      namespace: "test",
      tls: files("DATABASE", { ca: made.ca }),
    });
    expect(await message(opened)).toContain("is for another host");
  });

  test("a renewed CA counts from the next connection on", async () => {
    await show(made.good);
    const trusted = growingFile();
    const tls = files("DATABASE", { ca: trusted });
    const opened = await openDatabase(url("plain"), { namespace: "test", tls, pool_max: 1 });
    await show(made.renewed);
    await admin.unsafe("select pg_terminate_backend(pid) from pg_stat_activity where datname = 'plain'");
    await expect(opened.ping(1_000)).rejects.toThrow();
    trusted.trust(made.next);
    await waitFor(() => opened.ping(1_000).then(() => true), { what: "a connection under the renewed CA" });
    await opened.close();
  });
});

describe.if(services().redis.binary)("Redis", () => {
  let server: TestServer;
  let admin: Redis;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    server = await startRedis([
      ...["--tls-port", String(port), "--tls-ca-cert-file", made.ca.cert_file, "--tls-auth-clients", "yes"],
      ...["--tls-cert-file", made.good.cert_file, "--tls-key-file", made.good.key_file],
    ]);
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await server.close();
  });

  const show = async ({ cert_file, key_file }: CertificatePair) => {
    await admin.config("SET", "tls-cert-file", cert_file, "tls-key-file", key_file);
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

  suite({
    peer: "COUNTER_STORE",
    server: () => "the counter store",
    show,
    use: (given) => count(url(), given),
    useAsking: (given) => count(url(), given),
  });

  test("a server without TLS counts nothing, since it never answers a handshake", async () => {
    const plain = `rediss://localhost:${new URL(server.url).port}`;
    expect(await message(count(plain, { ca: made.ca }))).toContain("COUNTER_STORE_URL");
  });

  test("a server with TLS answers nobody who calls it without", async () => {
    expect(await message(count(`redis://localhost:${port}`, {}))).toContain("COUNTER_STORE_URL");
  });

  test("a renewed CA counts from the next connection on", async () => {
    await show(made.good);
    const trusted = growingFile();
    const tls = files("COUNTER_STORE", { ca: trusted, pair: made.client });
    const store = await openCounterStore(url(), { tls });
    await show(made.renewed);
    await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await expect(store.increment("renewed", 60)).rejects.toThrow();
    trusted.trust(made.next);
    await waitFor(() => store.increment("renewed", 60).then(() => true), { what: "a count" });
    await store.close();
  });
});

describe.if(services().redis.binary)("Redis Cluster", () => {
  test("rediss+cluster:// calls each node by TLS", async () => {
    const port = await freePort();
    const server = await startRedis([
      ...[
        "--cluster-enabled",
        "yes",
        "--cluster-announce-ip",
        "127.0.0.1",
        "--tls-cluster",
        "yes",
        "--tls-port",
        String(port),
      ],
      ...["--tls-ca-cert-file", made.ca.cert_file, "--tls-auth-clients", "no"],
      ...["--tls-cert-file", made.good.cert_file, "--tls-key-file", made.good.key_file],
    ]);
    const admin = new Redis(server.url);
    await admin.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    await waitFor(async () => String(await admin.call("CLUSTER", "INFO")).includes("cluster_state:ok"));
    admin.disconnect();
    const url = `rediss+cluster://localhost:${port}`;
    const store = await openCounterStore(url, { tls: files("COUNTER_STORE", { ca: made.ca }) });
    await waitFor(async () => (await store.increment("clustered", 60)).count > 0, { what: "a count" });
    await store.close();
    const stranger = await openCounterStore(url, { tls: files("COUNTER_STORE", { ca: made.next }) });
    expect(await message(stranger.increment("clustered", 60))).toContain("COUNTER_STORE_URL");
    await stranger.close();
    await server.close();
  });
});

describe.if(services().etcd.binary)("etcd", () => {
  let server: TestServer;
  let port: number;
  const served = {
    cert_file: join(certificates.folder, "etcd.crt"),
    key_file: join(certificates.folder, "etcd.key"),
  };

  beforeAll(async () => {
    port = await freePort();
    install(made.good);
    server = await startEtcd(
      [
        ...["--cert-file", served.cert_file, "--key-file", served.key_file],
        ...["--client-cert-auth", "--trusted-ca-file", made.ca.cert_file],
      ],
      `https://127.0.0.1:${port}`,
    );
  });
  afterAll(() => server.close());

  /** etcd reads them for every connection. */
  function install({ cert_file, key_file }: CertificatePair): void {
    copyFileSync(cert_file, served.cert_file);
    copyFileSync(key_file, served.key_file);
  }

  const show = async (pair: CertificatePair) => {
    install(pair);
    const name = pair === made.good ? "good" : undefined;
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

  suite({
    peer: "ROUTE_STORE",
    server: () => "the route store",
    show,
    use: (given) => read(url(), given),
    useAsking: (given) => read(url(), given),
  });

  test("a server without TLS is never ready", async () => {
    const store = await openRouteStore(`https://localhost:${new URL(server.url).port}`, {});
    expect(await message(store.ping(1_000))).toContain("ROUTE_STORE_URL");
    await store.close();
  });

  test("routes are written, watched and read by TLS, and after the CA was renewed too", async () => {
    await show(made.good);
    const trusted = growingFile();
    const store = await openRouteStore(url(), {
      tls: files("ROUTE_STORE", { ca: trusted, pair: made.client }),
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
    install(made.renewed);
    await server.restart();
    await expect(store.ping(2_000)).rejects.toThrow();
    trusted.trust(made.next);
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
