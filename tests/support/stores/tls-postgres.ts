import { chownSync, copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import type { CertificatePair } from "../http/certificates.ts";
import { waitFor } from "../time/wait-for.ts";
import type { TestServer } from "./server.ts";
import { startPostgres } from "./services.ts";
import { connect } from "./sql.ts";

/** The client authentication rules of the server (`pg_hba.conf`). */
const RULES = [
  "host postgres all all trust",
  "hostssl plain all all trust",
  "hostnossl plain all all reject",
  "hostssl all all all trust clientcert=verify-ca",
  "local all all trust",
];

/**
 * A PostgreSQL server with TLS. The database `plain` requires TLS. The database `asking` also requires a
 * client certificate.
 */
export class TlsPostgres implements AsyncDisposable {
  /** A connection without TLS to the database `postgres`. */
  readonly admin: postgres.Sql;
  readonly port: number;
  readonly #server: TestServer;
  readonly #data: string;

  /**
   * Starts a server that trusts the client certificates of a CA. The server has no certificate until `show`.
   */
  static async start(ca: CertificatePair): Promise<TlsPostgres> {
    const server = await startPostgres();
    const admin = connect(server.url);
    for (const name of ["plain", "asking"]) await admin.unsafe(`create database ${name}`);
    const [row] = await admin.unsafe("show data_directory");
    const made = new TlsPostgres(server, admin, String(row?.data_directory));
    const lines = RULES.map((rule) => `('${rule}')`).join(", ");
    await admin.unsafe(`copy (select * from (values ${lines}) as rules) to '${made.#data}/pg_hba.conf'`);
    made.#install(ca.certFile, "ca.crt");
    await admin.unsafe("alter system set ssl_ca_file = 'ca.crt'");
    return made;
  }

  private constructor(server: TestServer, admin: postgres.Sql, data: string) {
    this.#server = server;
    this.admin = admin;
    this.#data = data;
    this.port = Number(new URL(server.url).port);
  }

  /** Returns the URL for connections to a database over TLS, which verify the server's certificate. */
  url(database: string, host = "localhost"): string {
    return `postgres://postgres@${host}:${this.port}/${database}?sslmode=verify-full`;
  }

  /** Replaces the server's certificate. New connections see the new certificate. */
  async show(pair: CertificatePair): Promise<void> {
    this.#install(pair.certFile, "server.crt");
    this.#install(pair.keyFile, "server.key");
    await this.admin.unsafe("alter system set ssl = on");
    const before = await this.#loadedAt();
    await this.admin.unsafe("select pg_reload_conf()");
    // Once the load time has changed, the server uses the certificate for every new connection.
    await waitFor(async () => (await this.#loadedAt()) !== before, { what: "the reload of the certificate" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.end();
    await this.#server.close();
  }

  /**
   * Copies a file into the data directory and makes the server's account the owner, as PostgreSQL requires.
   */
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
