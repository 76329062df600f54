import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { services } from "../../../support/stores/services.ts";
import { TlsPostgres } from "../../../support/stores/tls-postgres.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { behavesByTls, type ClientFiles, files, message, TlsMaterial } from "./store-tls-suite.ts";

const material = new TlsMaterial();

describe.if(services().postgres.binary)("TLS to PostgreSQL", () => {
  let server: TlsPostgres;

  beforeAll(async () => {
    server = await TlsPostgres.start(material.made.ca);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function open(database: string, given: ClientFiles, host?: string): Promise<void> {
    const opened = await openDatabase(server.url(database, host), {
      namespace: "test",
      tls: files("DATABASE", given),
      poolMax: 1,
    });
    await opened.close();
  }

  behavesByTls(material, {
    peer: "DATABASE",
    server: () => `localhost:${server.port}`,
    show: (pair) => server.show(pair),
    use: (given) => open("plain", given),
    useAsking: (given) => open("asking", given),
  });

  test.each(["require", "verify-ca"])(
    "sslmode=%s also checks the host name in the certificate",
    async (mode) => {
      await server.show(material.made.elsewhere);
      const opened = openDatabase(server.url("plain").replace("verify-full", mode), {
        namespace: "test",
        tls: files("DATABASE", { ca: material.made.ca }),
      });
      expect(await message(opened)).toContain("does not name the host");
    },
  );

  test("a renewed CA file is used for the next connection", async () => {
    await server.show(material.made.good);
    const trusted = material.growingFile();
    const tls = files("DATABASE", { ca: trusted });
    const opened = await openDatabase(server.url("plain"), { namespace: "test", tls, poolMax: 1 });
    await server.show(material.made.renewed);
    await server.admin.unsafe(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'plain'",
    );
    await expect(opened.ping(1_000)).rejects.toThrow();
    trusted.trust(material.made.next);
    await waitFor(() => opened.ping(1_000).then(() => true), { what: "a connection under the renewed CA" });
    await opened.close();
  });
});
