import { rm } from "node:fs/promises";
import type { Leash } from "./clean-up-after-kill.ts";
import { childrenOf, isStopped, signal } from "./processes.ts";
import type { TestServer } from "./server.ts";
import { waitFor } from "./wait-for.ts";

/** The time limit of a start, which takes one or two seconds, but many seconds on a busy machine. */
const READY_TIMEOUT_MS = 60_000;

export interface BinaryServer {
  url: string;
  command: string[];
  /** The environment variables of the server. By default the server inherits those of this process. */
  env?: Record<string, string>;
  /** The directory that holds everything that the server writes. `close` removes the directory. */
  directory: string;
  /** Returns true once the server responds. Before that, it returns false or throws. */
  ready: () => Promise<boolean>;
  /** The signal that ends the server and its child processes at once, like a crash. */
  crash: NodeJS.Signals;
  /** The signal for a graceful shutdown. */
  shutdown: NodeJS.Signals;
}

/** A server process that tests start from the server's binary. */
export class BinaryTestServer implements TestServer {
  readonly url: string;
  readonly #server: BinaryServer;
  readonly #leash: Leash;
  #process: Bun.Subprocess | undefined;
  #frozen: number[] = [];

  constructor(server: BinaryServer, leash: Leash) {
    this.url = server.url;
    this.#server = server;
    this.#leash = leash;
    leash.directory(server.directory);
  }

  /** The process id. It is undefined while the server does not run. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    const log = Bun.file(`${this.#server.directory}/log`);
    const running = Bun.spawn(this.#server.command, {
      cwd: this.#server.directory,
      ...(this.#server.env !== undefined && { env: this.#server.env }),
      stdin: "ignore",
      stdout: log,
      stderr: log,
      detached: true,
    });
    running.unref();
    this.#leash.process(running.pid, this.#server.crash);
    this.#process = running;
    await waitFor(
      async () => {
        if (running.exitCode !== null) return { answers: false };
        return (await this.#server.ready()) && { answers: true };
      },
      { timeoutMs: READY_TIMEOUT_MS, what: this.#server.command.join(" ") },
    ).then(async ({ answers }) => {
      if (!answers)
        throw new Error(`${this.#server.command[0]} exited before it was ready: ${await log.text()}`);
    });
  }

  kill(): Promise<void> {
    return this.#end(this.#server.crash);
  }

  stop(): Promise<void> {
    return this.#end(this.#server.shutdown);
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async freeze(): Promise<void> {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error("The server is not running.");
    this.#frozen = [pid, ...childrenOf(pid)].filter((each) => signal(each, "SIGSTOP"));
    await waitFor(() => this.#frozen.every(isStopped), { what: "the server to freeze" });
  }

  async thaw(): Promise<void> {
    for (const pid of this.#frozen) signal(pid, "SIGCONT");
    this.#frozen = [];
  }

  async recover(): Promise<void> {
    await this.thaw();
    if (this.#process === undefined) await this.start();
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.#server.directory, { recursive: true, force: true });
    this.#leash.release(this.#server.directory);
  }

  async #end(name: NodeJS.Signals): Promise<void> {
    const ending = this.#process;
    if (ending === undefined) return;
    this.#process = undefined;
    await this.thaw();
    signal(ending.pid, name);
    await ending.exited;
    this.#leash.release(ending.pid);
  }
}
