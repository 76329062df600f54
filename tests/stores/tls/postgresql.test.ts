import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import postgres from "postgres";
import type { CertificatePair } from "../../support/certificates.ts";
import type { TestServer } from "../../support/server.ts";
import { services, startPostgres } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";
import { behavesByTls, type ClientFiles, files, message, TlsMaterial } from "./store-tls-suite.ts";

setDefaultTimeout(60_000);

const material = new TlsMaterial();

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
    install(material.made.ca.cert_file, "ca.crt");
    await admin.unsafe("alter system set ssl_ca_file = 'ca.crt'");
  });
  afterAll(async () => {
    await admin.end();
    await server.close();
  });

  /** Installs a file for the server's own account, which must own what it reads. */
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
    // The server reads its certificate before it accepts the next connection.
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

  behavesByTls(material, {
    peer: "DATABASE",
    server: () => `localhost:${port}`,
    show,
    use: (given) => open("plain", given),
    useAsking: (given) => open("asking", given),
  });

  test("an address is a name like any other, and must be in the certificate", async () => {
    await show(material.made.good);
    await open("plain", { ca: material.made.ca }, "127.0.0.1");
    await show(material.made.ca.sign("named", { names: "DNS:localhost" }));
    expect(await message(open("plain", { ca: material.made.ca }, "127.0.0.1"))).toContain(
      "is for another host",
    );
  });

  test.each(["require", "verify-ca"])("sslmode=%s checks the certificate too", async (mode) => {
    await show(material.made.elsewhere);
    const opened = openDatabase(url("plain").replace("verify-full", mode), {
      namespace: "test",
      tls: files("DATABASE", { ca: material.made.ca }),
    });
    expect(await message(opened)).toContain("is for another host");
  });

  test("a renewed CA counts from the next connection on", async () => {
    await show(material.made.good);
    const trusted = material.growingFile();
    const tls = files("DATABASE", { ca: trusted });
    const opened = await openDatabase(url("plain"), { namespace: "test", tls, pool_max: 1 });
    await show(material.made.renewed);
    await admin.unsafe("select pg_terminate_backend(pid) from pg_stat_activity where datname = 'plain'");
    await expect(opened.ping(1_000)).rejects.toThrow();
    trusted.trust(material.made.next);
    await waitFor(() => opened.ping(1_000).then(() => true), { what: "a connection under the renewed CA" });
    await opened.close();
  });
});
