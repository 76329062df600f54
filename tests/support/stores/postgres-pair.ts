import { existsSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import postgres from "postgres";
import { waitFor } from "../time/wait-for.ts";
import { asAccount, initialize, type NewPostgres, newPostgres, run } from "./postgres-server.ts";
import type { TestServer } from "./server.ts";

/** One of two PostgreSQL servers: the primary or its standby. */
interface PostgresNode extends TestServer {
  /** Promotes this standby to the primary. Resolves once the server accepts writes. */
  promote(): Promise<void>;
  /** Deletes this server's data and starts the server as a synchronous standby of `primary`. */
  follow(primary: PostgresNode): Promise<void>;
  /** Runs a statement on this server over a new connection and returns the rows. */
  ask(statement: string): Promise<postgres.Row[]>;
}

/** A primary and a standby with synchronous replication: a commit returns once both servers have it. */
export interface PostgresPair {
  readonly primary: PostgresNode;
  readonly standby: PostgresNode;
  /** One connection URL for both servers. Its first server is the primary at the start. */
  readonly url: string;
}

/** Starts a new pair from the binaries in `bin`. */
export async function startPostgresNodes(bin: string): Promise<PostgresPair> {
  const [one, two] = [newPostgres(bin), newPostgres(bin)];
  await initialize(bin, one);
  await one.server.start();
  const primary = new Node(bin, one);
  const standby = new Node(bin, two);
  await standby.follow(primary);
  const [first, second] = [new URL(primary.url), new URL(standby.url)];
  return { primary, standby, url: `postgres://postgres@${first.host},${second.host}/postgres` };
}

class Node implements PostgresNode {
  readonly #bin: string;
  readonly #parts: NewPostgres;

  constructor(bin: string, parts: NewPostgres) {
    this.#bin = bin;
    this.#parts = parts;
  }

  get url(): string {
    return this.#parts.server.url;
  }

  async promote(): Promise<void> {
    await this.ask("select pg_promote(true, 30)");
    await waitFor(
      async () => (await this.ask("select pg_is_in_recovery() as standby"))[0]?.standby === false,
    );
  }

  async follow(primary: PostgresNode): Promise<void> {
    const { server, data, account, directory } = this.#parts;
    await server.stop();
    await rm(data, { recursive: true, force: true });
    // A primary that waits for a missing standby would block the copy, so the replication becomes
    // asynchronous first.
    await primary.ask("alter system set synchronous_standby_names = ''");
    await primary.ask("select pg_reload_conf()");
    const copy = ["-d", primary.url, "-D", data, "-R", "--checkpoint=fast", "--no-sync"];
    await run(asAccount(account, [programIn(this.#bin, "pg_basebackup"), ...copy]), directory);
    await server.start();
    await primary.ask("alter system set synchronous_standby_names = '*'");
    await primary.ask("select pg_reload_conf()");
    await waitFor(
      async () =>
        (await primary.ask("select 1 from pg_stat_replication where sync_state = 'sync'")).length > 0,
      { timeoutMs: 30_000, what: "the synchronous replication to the standby" },
    );
  }

  async ask(statement: string): Promise<postgres.Row[]> {
    const sql = postgres(this.url, { max: 1, connect_timeout: 5, onnotice: () => {} });
    try {
      return await sql.unsafe(statement);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  kill = () => this.#parts.server.kill();
  stop = () => this.#parts.server.stop();
  restart = () => this.#parts.server.restart();
  freeze = () => this.#parts.server.freeze();
  thaw = () => this.#parts.server.thaw();
  recover = () => this.#parts.server.recover();
  close = () => this.#parts.server.close();
}

/** Returns the path of a PostgreSQL program in the server's own folder, because few of them are in PATH. */
function programIn(bin: string, name: string): string {
  const beside = join(dirname(realpathSync(join(bin, "postgres"))), name);
  return existsSync(beside) ? beside : join(bin, name);
}
