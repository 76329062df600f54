import { leash } from "../processes/clean-up-after-kill.ts";
import { childrenOf, hasExited, isStopped, signal } from "../processes/processes.ts";
import { removeFolder } from "../temporary-folder.ts";
import { waitFor } from "../time/wait-for.ts";
import type { TestServer } from "./server.ts";

/** The time limit of a start, which takes one or two seconds, but many seconds on a busy machine. */
const READY_TIMEOUT_MS = 60_000;

const ATTEMPTS = 5;

/**
 * Starts the server that `prepare` returns. If another program takes a port of the server first, starts
 * the next server of `prepare`, on other ports.
 */
export async function startOnFreePorts(
  prepare: () => BinaryTestServer | Promise<BinaryTestServer>,
): Promise<BinaryTestServer> {
  for (let attempt = 1; ; attempt++) {
    const server = await prepare();
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      if (attempt === ATTEMPTS || !/\bin use\b/i.test(String(error))) throw error;
    }
  }
}

interface BinaryServer {
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
  shutdown: NodeJS.Signals;
  /** The maximum number of starts in a row, as by a supervisor, because a store may be too busy. Default: 1. */
  startsMax?: number;
}

export class BinaryTestServer implements TestServer {
  readonly url: string;
  readonly #server: BinaryServer;
  #process: Bun.Subprocess | undefined;
  readonly #frozen: number[] = [];

  constructor(server: BinaryServer) {
    this.url = server.url;
    this.#server = server;
  }

  /** The process id. It is undefined while the server does not run. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    const { startsMax = 1 } = this.#server;
    for (let start = 1; ; start++) {
      try {
        return await this.#startOnce();
      } catch (error) {
        if (start >= startsMax) throw error;
      }
    }
  }

  async #startOnce(): Promise<void> {
    const { command, directory, env, crash, ready } = this.#server;
    const log = Bun.file(`${directory}/log`);
    const running = Bun.spawn(command, {
      cwd: directory,
      ...(env !== undefined && { env }),
      stdin: "ignore",
      stdout: log,
      stderr: log,
      detached: true,
    });
    running.unref();
    leash().process(running.pid, crash);
    this.#process = running;
    await waitFor(async () => hasExited(running) || (await ready()), {
      timeoutMs: READY_TIMEOUT_MS,
      what: command.join(" "),
    });
    if (!hasExited(running)) return;
    leash().release(running.pid);
    throw new Error(`${command[0]} exited before it was ready: ${await log.text()}`);
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
    // The parent stops first. From then on, it starts no child process that would stay awake, and children that
    // exit remain as zombies.
    await this.#suspend([pid]);
    await this.#suspend(childrenOf(pid));
  }

  async #suspend(pids: readonly number[]): Promise<void> {
    const suspended = pids.filter((pid) => signal(pid, "SIGSTOP"));
    this.#frozen.push(...suspended);
    await waitFor(() => suspended.every(isStopped), { what: "the server to freeze" });
  }

  async thaw(): Promise<void> {
    for (const pid of this.#frozen.splice(0)) signal(pid, "SIGCONT");
  }

  async recover(): Promise<void> {
    await this.thaw();
    if (this.#process === undefined) await this.start();
  }

  async close(): Promise<void> {
    await this.kill();
    await removeFolder(this.#server.directory);
  }

  async #end(name: NodeJS.Signals): Promise<void> {
    const ending = this.#process;
    if (ending === undefined) return;
    this.#process = undefined;
    await this.thaw();
    // After the exit of a process, the system may give its id to another one.
    if (!hasExited(ending)) signal(ending.pid, name);
    await ending.exited;
    leash().release(ending.pid);
  }
}
