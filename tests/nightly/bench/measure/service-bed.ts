import { dirname, join } from "node:path";
import { leash } from "../../../support/processes/clean-up-after-kill.ts";
import { ROOT } from "../../../support/root.ts";
import type { BinaryTestServer } from "../../../support/stores/binary-server.ts";
import { startEtcdBinary } from "../../../support/stores/etcd-server.ts";
import { startPostgresBinary } from "../../../support/stores/postgres-server.ts";
import { startRedisBinary } from "../../../support/stores/redis-server.ts";
import type { TestServer } from "../../../support/stores/server.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { BenchImpossible } from "./cores.ts";

/** PostgreSQL settings as in production: `fsync` is on, so each commit waits for the disk. */
const DURABLE = { fsync: "on", full_page_writes: "on", shared_buffers: "1GB", max_wal_size: "4GB" };

/** The timeout for the start of a service, which is slow on a busy machine. */
const START_TIMEOUT_MS = 60_000;

export interface ServiceProcess {
  readonly pid: number;
  readonly url: string;
  readonly internalUrl: string;
}

/** The test bed of a bench of services: it starts stores and services, and stops them when it is disposed. */
export class ServiceBed implements AsyncDisposable {
  readonly #ends = new AsyncDisposableStack();

  /** @throws BenchImpossible if a tool is missing */
  constructor(tools: string[]) {
    const missing = ["postgres", ...tools].filter((tool) => Bun.which(tool) === null);
    if (missing.length > 0) {
      throw new BenchImpossible(`This bench needs ${missing.join(", ")}: install them and run it again.`);
    }
  }

  async database(): Promise<BinaryTestServer> {
    const server = await startPostgresBinary(dirname(Bun.which("postgres") ?? ""), DURABLE);
    this.#ends.defer(() => server.close());
    return server;
  }

  /** Starts an etcd that writes to disk with `fsync`. */
  async routeStore(): Promise<TestServer> {
    const server = await startEtcdBinary(Bun.which("etcd") ?? "", []);
    this.#ends.defer(() => server.close());
    return server;
  }

  async counterStore(): Promise<TestServer> {
    const server = await startRedisBinary(Bun.which("redis-server") ?? "");
    this.#ends.defer(() => server.close());
    return server;
  }

  /**
   * Starts a service whose entry file is `entry`, a path from the repository's root. Resolves when it
   * listens.
   */
  async process(entry: string, variables: Record<string, string>): Promise<ServiceProcess> {
    const { PATH = "", HOME = "" } = process.env;
    const log = join(temporaryFolder("bench"), "log");
    const child = Bun.spawn([process.execPath, join(ROOT, entry)], {
      env: { PATH, HOME, HOST: "127.0.0.1", PORT: "0", INTERNAL_PORT: "0", LOG_FILE: log, ...variables },
      stdio: ["ignore", "inherit", "inherit"],
    });
    leash().process(child.pid);
    this.#ends.defer(async () => {
      child.kill();
      await child.exited;
      leash().release(child.pid);
    });
    const listening = async () => {
      const lines = (await Bun.file(log).text()).split("\n").filter((line) => line.includes('"listening"'));
      return lines[0] === undefined ? null : JSON.parse(lines[0]);
    };
    const ports = await waitFor(listening, { timeoutMs: START_TIMEOUT_MS, what: `the start of ${entry}` });
    const address = (port: unknown) => `http://127.0.0.1:${port}`;
    return { pid: child.pid, url: address(ports.port), internalUrl: address(ports.internal_port) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ends.disposeAsync();
  }
}
