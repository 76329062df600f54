import { readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { leash } from "../processes/clean-up-after-kill.ts";
import { ROOT } from "../root.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** The files and folders of the repository that a reader's folder does not have. */
const LEFT_OUT = [".git", ".ostiary"];
const BETWEEN_BLOCKS = "--- end of block ---";

export type Command = ReturnType<Reader["start"]>;

/** Runs the commands of a guide in a temporary copy of the repository's folder. */
export class Reader {
  readonly directory: string;
  readonly #env: Record<string, string>;

  private constructor(directory: string, env: Record<string, string>) {
    this.directory = directory;
    this.#env = env;
  }

  static async open(env: Record<string, string> = {}): Promise<Reader> {
    // The copy consists of links, so new files of the commands do not appear in the repository.
    const directory = temporaryFolder("reader");
    const names = (await readdir(ROOT)).filter((name) => !LEFT_OUT.includes(name));
    for (const name of names) await symlink(join(ROOT, name), join(directory, name));
    return new Reader(directory, env);
  }

  /** Starts commands and returns their shell, which the test kills. */
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

  /** Runs commands and returns their standard output. Throws the whole output if a command fails. */
  async run(commands: string): Promise<string> {
    const child = this.start(commands);
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (child.exitCode === 0) return stdout;
    throw new Error(`${commands}\nexited with code ${child.exitCode}:\n${stdout}${stderr}`);
  }

  /** Runs the blocks of a guide in order in one shell. Returns the output of each block. */
  async runAll(blocks: readonly string[]): Promise<string[]> {
    const script = blocks.map((block) => `${block}\necho '${BETWEEN_BLOCKS}'\n`).join("");
    return (await this.run(script)).split(`${BETWEEN_BLOCKS}\n`).slice(0, -1);
  }
}

/** Replaces each `host:port` of a guide with the host and port of this run, whose port may begin like another one. */
export function moved(commands: string, places: Record<string, string>): string {
  const names = Object.keys(places).map((name) => `${RegExp.escape(name)}(?!\\d)`);
  return commands.replace(new RegExp(names.join("|"), "g"), (name) => places[name] ?? name);
}

/**
 * Returns commands that run `bun` in place of `node` when Node.js is missing. The guides promise that both
 * work.
 */
export function withNodeOrBun(commands: string): string {
  return Bun.which("node") === null ? commands.replace(/^node /gm, "bun ") : commands;
}

/**
 * Waits until a process has written `words`, and returns the output so far. Then reads on in the background,
 * so that a full pipe does not block the process.
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
