import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Leash } from "../../support/leash.ts";
import { startPostgresBinary } from "../../support/postgres-server.ts";
import type { TestServer } from "../../support/server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { BenchImpossible } from "../measure/cores.ts";

const ENTRY = join(import.meta.dir, "../../../apps/audit/main.ts");

/** As a server in production is set up, as far as figures depend on it: every commit reaches the disk. */
const DURABLE = { fsync: "on", full_page_writes: "on", shared_buffers: "1GB", max_wal_size: "4GB" };

export interface AuditProcess {
  readonly pid: number;
  readonly url: string;
  readonly internal_url: string;
}

/** The database and the processes of a run, and their end. */
export class AuditBed implements AsyncDisposable {
  readonly #leash = new Leash();
  readonly #ends = new AsyncDisposableStack();

  /** @throws BenchImpossible where the tools are not there */
  constructor(tools: string[]) {
    const missing = ["postgres", ...tools].filter((tool) => Bun.which(tool) === null);
    if (missing.length > 0) {
      throw new BenchImpossible(`This bench needs ${missing.join(", ")}: install them and run it again.`);
    }
  }

  async database(): Promise<TestServer> {
    const server = await startPostgresBinary(dirname(Bun.which("postgres") ?? ""), this.#leash, DURABLE);
    this.#ends.defer(() => server.close());
    return server;
  }

  async directory(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), "ostiary-bench-"));
    this.#leash.directory(directory);
    this.#ends.defer(() => rm(directory, { recursive: true, force: true }));
    return directory;
  }

  /** The audit service as in production, but for its log, which goes nowhere. */
  async service(database_url: string): Promise<AuditProcess> {
    const { PATH = "", HOME = "" } = process.env;
    const log = join(await this.directory(), "log");
    const child = Bun.spawn([process.execPath, ENTRY], {
      env: {
        ...{ PATH, HOME, HOST: "127.0.0.1", PORT: "0", INTERNAL_PORT: "0", LOG_FILE: log },
        DATABASE_URL: database_url,
      },
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.#leash.process(child.pid);
    this.#ends.defer(async () => {
      child.kill();
      await child.exited;
      this.#leash.release(child.pid);
    });
    const ports = await waitFor(async () => {
      const lines = (await Bun.file(log).text()).split("\n").filter((line) => line.includes('"listening"'));
      return lines[0] === undefined ? null : JSON.parse(lines[0]);
    });
    const address = (port: unknown) => `http://127.0.0.1:${port}`;
    return { pid: child.pid, url: address(ports.port), internal_url: address(ports.internal_port) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ends.disposeAsync();
  }
}
