import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./documents.ts";
import { leash } from "./services.ts";

/** Files that a fresh clone does not have. */
const LEFT_OUT = [".git", ".ostiary"];
const BETWEEN_BLOCKS = "--- end of block ---";

export type Command = ReturnType<Reader["start"]>;

/** A person who follows a guide in the folder of the repository. `close` removes what the commands wrote. */
export class Reader {
  readonly directory: string;
  readonly #env: Record<string, string>;

  private constructor(directory: string, env: Record<string, string>) {
    this.directory = directory;
    this.#env = env;
  }

  static async open(env: Record<string, string> = {}): Promise<Reader> {
    // The folder of the repository under another name.
    const directory = await mkdtemp(join(tmpdir(), "ostiary-reader-"));
    const names = (await readdir(ROOT)).filter((name) => !LEFT_OUT.includes(name));
    for (const name of names) await symlink(join(ROOT, name), join(directory, name));
    return new Reader(directory, env);
  }

  /** Starts commands that run until they are killed. */
  start(commands: string, env: Record<string, string> = {}) {
    const child = Bun.spawn(["bash", "-euo", "pipefail", "-c", commands], {
      cwd: this.directory,
      env: { PATH: process.env.PATH ?? "", HOME: this.directory, ...this.#env, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    leash().process(child.pid);
    void child.exited.then(() => leash().release(child.pid));
    return child;
  }

  /** Runs commands and returns their output. Throws their errors when one of them fails. */
  async run(commands: string): Promise<string> {
    const child = this.start(commands);
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (child.exitCode === 0) return stdout;
    throw new Error(`${commands}\nended with ${child.exitCode}:\n${stdout}${stderr}`);
  }

  /** Runs blocks one after the other in one shell, as they are pasted, and returns the output of each. */
  async runAll(blocks: readonly string[]): Promise<string[]> {
    const script = blocks.map((block) => `${block}\necho '${BETWEEN_BLOCKS}'\n`).join("");
    return (await this.run(script)).split(`${BETWEEN_BLOCKS}\n`).slice(0, -1);
  }

  close(): Promise<void> {
    return rm(this.directory, { recursive: true, force: true });
  }
}

/** Replaces each `host:port` of a guide by its address in this run. */
export function moved(commands: string, places: Record<string, string>): string {
  return Object.entries(places).reduce((text, [from, to]) => text.replaceAll(from, to), commands);
}

/** Returns commands for Node.js, or for Bun without Node.js: the guides say that either works. */
export function withNodeOrBun(commands: string): string {
  return Bun.which("node") === null ? commands.replace(/^node /gm, "bun ") : commands;
}

/**
 * Waits until a process has written `words`, and returns its output. It keeps reading, so that the process
 * never waits.
 */
export async function readUntil(stream: ReadableStream<Uint8Array>, words: string): Promise<string> {
  let text = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes(words)) resolve();
    }
    resolve();
  };
  void read();
  await promise;
  return text;
}
