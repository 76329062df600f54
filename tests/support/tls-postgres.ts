import { chownSync, copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import type { CertificatePair } from "./certificates.ts";
import type { TestServer } from "./server.ts";
import { startPostgres } from "./services.ts";
import { waitFor } from "./wait-for.ts";

/** The rules of the server for its databases. */
const RULES = [
  "host postgres all all trust",
  "hostssl plain all all trust",
  "hostnossl plain all all reject",
  "hostssl all all all trust clientcert=verify-ca",
  "local all all trust",
];

/**
 * A PostgreSQL server with TLS. The database `plain` takes TLS alone. Others, such as `asking`, take clients with a
 * certificate alone.
 */
export class TlsPostgres implements AsyncDisposable {
  /** A connection without TLS, to the first database. */
  readonly admin: postgres.Sql;
  readonly port: number;
  readonly #server: TestServer;
  readonly #data: string;

  /** Starts a server that trusts clients of a CA. It has no certificate before `show`. */
  static async start(ca: CertificatePair): Promise<TlsPostgres> {
    const server = await startPostgres();
    const admin = postgres(server.url, { max: 1, onnotice: () => {} });
    for (const name of ["plain", "asking"]) await admin.unsafe(`create database ${name}`);
    const [row] = await admin.unsafe("show data_directory");
    const made = new TlsPostgres(server, admin, String(row?.data_directory));
    const lines = RULES.map((rule) => `('${rule}')`).join(", ");
    await admin.unsafe(`copy (select * from (values ${lines}) as rules) to '${made.#data}/pg_hba.conf'`);
    made.#install(ca.cert_file, "ca.crt");
    await admin.unsafe("alter system set ssl_ca_file = 'ca.crt'");
    return made;
  }

  private constructor(server: TestServer, admin: postgres.Sql, data: string) {
    this.#server = server;
    this.admin = admin;
    this.#data = data;
    this.port = Number(new URL(server.url).port);
  }

  /** Returns the URL of a database by TLS. */
  url(database: string, host = "localhost"): string {
    return `postgres://postgres@${host}:${this.port}/${database}?sslmode=verify-full`;
  }

  /** Gives the server a certificate, which it shows from the next connection on. */
  async show(pair: CertificatePair): Promise<void> {
    this.#install(pair.cert_file, "server.crt");
    this.#install(pair.key_file, "server.key");
    await this.admin.unsafe("alter system set ssl = on");
    const before = await this.#loadedAt();
    await this.admin.unsafe("select pg_reload_conf()");
    // The server reads its certificate before it accepts the next connection.
    await waitFor(async () => (await this.#loadedAt()) !== before, { what: "the certificate" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.end();
    await this.#server.close();
  }

  /** Installs a file for the server's own account, which must own what it reads. */
  #install(from: string, name: string): void {
    const to = join(this.#data, name);
    copyFileSync(from, to);
    const { uid, gid } = statSync(this.#data);
    chownSync(to, uid, gid);
  }

  async #loadedAt(): Promise<string> {
    const [row] = await this.admin.unsafe("select pg_conf_load_time()::text as at");
    return String(row?.at);
  }
}
