import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../../support/http/free-port.ts";
import { leash } from "../../../support/processes/clean-up-after-kill.ts";
import { ROOT } from "../../../support/root.ts";
import { startEtcdBinary } from "../../../support/stores/etcd-server.ts";
import { startRedisBinary } from "../../../support/stores/redis-server.ts";
import type { TestServer } from "../../../support/stores/server.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { BenchImpossible, type Cores, divideCores, onSubjectCore } from "../measure/cores.ts";

export interface Started {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
}

/**
 * The test bed of a bench: it starts processes, and stops them when it is disposed. The {@link leash} stops
 * them too if the run is interrupted. All processes except the subjects share one core with the load
 * generator.
 */
export class Bed implements AsyncDisposable {
  readonly directory: string;
  readonly #cores: Cores;
  readonly #ends = new AsyncDisposableStack();

  /** @throws BenchImpossible if a tool or a second core is missing */
  static async create(): Promise<Bed> {
    const missing = ["wrk", "redis-server", "etcd", "nginx"].filter((tool) => Bun.which(tool) === null);
    if (missing.length > 0) {
      throw new BenchImpossible(`This bench needs ${missing.join(", ")}: install them and run it again.`);
    }
    return new Bed(divideCores(), temporaryFolder("bench"));
  }

  private constructor(cores: Cores, directory: string) {
    this.#cores = cores;
    this.directory = directory;
  }

  redis(): Promise<TestServer> {
    return this.#store("redis-server", startRedisBinary);
  }

  etcd(): Promise<TestServer> {
    return this.#store("etcd", startEtcdBinary);
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
    return this.#process(onSubjectCore(this.#cores, command), port, env, cwd);
  }

  /** Starts a process on the load generator's core. Resolves when it responds to HTTP requests. */
  helper(command: readonly string[], port: number): Promise<Started> {
    return this.#process(command, port, {}, ROOT);
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
    await Bun.write(join(prefix, "nginx.conf"), filled);
    const command = [
      "nginx",
      "-p",
      prefix,
      "-e",
      join(prefix, "start.err"),
      "-c",
      join(prefix, "nginx.conf"),
    ];
    return where === "subject" ? this.subject(command, port) : this.helper(command, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
  }

  async #store(binary: string, start: (binary: string) => Promise<TestServer>): Promise<TestServer> {
    const server = await start(binary);
    this.#ends.defer(() => server.close());
    return server;
  }

  async #process(
    command: readonly string[],
    port: number,
    env: Record<string, string>,
    cwd: string,
  ): Promise<Started> {
    const { PATH = "", HOME = "" } = process.env;
    const log = Bun.file(join(this.directory, `${port}.err`));
    const child = Bun.spawn([...command], {
      cwd,
      env: { PATH, HOME, ...env },
      stdin: "ignore",
      stdout: Bun.file("/dev/null"),
      stderr: log,
    });
    leash().process(child.pid);
    this.#ends.defer(async () => {
      child.kill("SIGKILL");
      await child.exited;
      leash().release(child.pid);
    });
    const url = `http://127.0.0.1:${port}`;
    const answered = await waitFor(async () => (child.exitCode === null ? (await fetch(url)).status : -1), {
      timeoutMs: 60_000,
      what: command.join(" "),
    });
    if (answered < 0)
      throw new Error(`${command.join(" ")} exited before it served requests: ${await log.text()}`);
    return { pid: child.pid, url, port };
  }
}
