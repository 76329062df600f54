import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { freePort } from "../../../support/http/free-port.ts";
import { leash } from "../../../support/processes/clean-up-after-kill.ts";
import { ROOT } from "../../../support/root.ts";
import { RunImpossible } from "../../../support/run-impossible.ts";
import type { BinaryTestServer } from "../../../support/stores/binary-server.ts";
import { startEtcdBinary } from "../../../support/stores/etcd-server.ts";
import { startPostgresBinary } from "../../../support/stores/postgres-server.ts";
import { startRedisBinary } from "../../../support/stores/redis-server.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { allowedCores } from "./machine.ts";

/** PostgreSQL settings as in production: `fsync` is on, so each commit waits for the disk. */
const DURABLE = { fsync: "on", full_page_writes: "on", shared_buffers: "1GB", max_wal_size: "4GB" };

/** The timeout for the start of a process, which is slow on a busy machine. */
const START_TIMEOUT_MS = 60_000;

export interface Started {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
}

export interface ServiceProcess {
  readonly pid: number;
  readonly url: string;
  readonly internalUrl: string;
}

/**
 * The test bed of a bench: it starts stores and processes, and stops them when it is disposed. The {@link leash}
 * stops them too if the run is interrupted.
 */
export class Bed implements AsyncDisposable {
  readonly directory = temporaryFolder("bench");
  readonly #ends = new AsyncDisposableStack();
  /** The core of the subjects; null if everything shares all cores. */
  readonly #core: number | null;

  /**
   * Returns a bed in which one core runs the subjects, and another one this process and everything else.
   *
   * @throws RunImpossible if a tool or a second core is missing
   */
  static onTwoCores(): Bed {
    requireTools(["wrk", "redis-server", "etcd", "nginx", "taskset"]);
    const [subject, load] = allowedCores();
    if (subject === undefined || load === undefined) throw new RunImpossible("This bench needs two cores.");
    Bun.spawnSync(["taskset", "--all-tasks", "--cpu-list", "--pid", String(load), String(process.pid)]);
    return new Bed([], subject);
  }

  /** @throws RunImpossible if a tool is missing */
  constructor(tools: readonly string[], core: number | null = null) {
    requireTools(tools);
    this.#core = core;
  }

  database(): Promise<BinaryTestServer> {
    requireTools(["postgres"]);
    return this.#store(startPostgresBinary(dirname(Bun.which("postgres") ?? ""), DURABLE));
  }

  redis(): Promise<BinaryTestServer> {
    return this.#store(startRedisBinary("redis-server"));
  }

  /** Starts an etcd that writes to disk with `fsync`. */
  etcd(): Promise<BinaryTestServer> {
    return this.#store(startEtcdBinary("etcd"));
  }

  /**
   * Starts a service whose entry file is `entry`, a path from the repository's root. Resolves when it
   * listens.
   */
  async process(entry: string, variables: Record<string, string>): Promise<ServiceProcess> {
    const log = join(temporaryFolder("bench"), "log");
    const { pid } = this.#spawn([process.execPath, join(ROOT, entry)], {
      env: { HOST: "127.0.0.1", PORT: "0", INTERNAL_PORT: "0", LOG_FILE: log, ...variables },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const listening = async () => {
      const lines = (await Bun.file(log).text()).split("\n").filter((line) => line.includes('"listening"'));
      return lines[0] === undefined ? null : JSON.parse(lines[0]);
    };
    const ports = await waitFor(listening, { timeoutMs: START_TIMEOUT_MS, what: `the start of ${entry}` });
    const address = (port: unknown) => `http://127.0.0.1:${port}`;
    return { pid, url: address(ports.port), internalUrl: address(ports.internal_port) };
  }

  /**
   * Starts a process in the directory `cwd`, on the subjects' core. Resolves when it responds to HTTP
   * requests.
   */
  subject(
    command: readonly string[],
    port: number,
    env: Record<string, string> = {},
    cwd: string = ROOT,
  ): Promise<Started> {
    return this.#server(["taskset", "--cpu-list", String(this.#core), ...command], port, env, cwd);
  }

  /** Starts a process on the load generator's core. Resolves when it responds to HTTP requests. */
  helper(command: readonly string[], port: number): Promise<Started> {
    return this.#server(command, port, {}, ROOT);
  }

  /** Starts nginx with the configuration `text`, after replacing each `@NAME@` by the value of `NAME`. */
  async nginx(
    where: "subject" | "helper",
    text: string,
    values: Readonly<Record<string, string | number>>,
  ): Promise<Started> {
    const port = freePort();
    const prefix = join(this.directory, `nginx-${port}`);
    await mkdir(prefix);
    const filled = Object.entries({ ...values, PORT: port }).reduce(
      (configuration, [name, value]) => configuration.replaceAll(`@${name}@`, String(value)),
      text,
    );
    const file = join(prefix, "nginx.conf");
    await Bun.write(file, filled);
    return this[where](["nginx", "-p", prefix, "-e", join(prefix, "start.err"), "-c", file], port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
  }

  async #store(starting: Promise<BinaryTestServer>): Promise<BinaryTestServer> {
    const server = await starting;
    this.#ends.defer(() => server.close());
    return server;
  }

  async #server(
    command: readonly string[],
    port: number,
    env: Record<string, string>,
    cwd: string,
  ): Promise<Started> {
    const log = Bun.file(join(this.directory, `${port}.err`));
    const child = this.#spawn(command, { cwd, env, stdio: ["ignore", Bun.file("/dev/null"), log] });
    const url = `http://127.0.0.1:${port}`;
    const status = await waitFor(async () => (child.exitCode === null ? (await fetch(url)).status : -1), {
      timeoutMs: START_TIMEOUT_MS,
      what: command.join(" "),
    });
    if (status < 0)
      throw new Error(`${command.join(" ")} exited before it served requests: ${await log.text()}`);
    return { pid: child.pid, url, port };
  }

  #spawn(command: readonly string[], options: Pick<SpawnOptions, "cwd" | "env" | "stdio">): Bun.Subprocess {
    const { PATH = "", HOME = "" } = process.env;
    const child = Bun.spawn([...command], { ...options, env: { PATH, HOME, ...options.env } });
    leash().process(child.pid);
    this.#ends.defer(async () => {
      child.kill("SIGKILL");
      await child.exited;
      leash().release(child.pid);
    });
    return child;
  }
}

type SpawnOptions = NonNullable<Parameters<typeof Bun.spawn>[1]>;

function requireTools(tools: readonly string[]): void {
  const missing = tools.filter((tool) => Bun.which(tool) === null);
  if (missing.length > 0)
    throw new RunImpossible(`This bench needs ${missing.join(", ")}: install them and run it again.`);
}
