import { createInterface } from "node:readline";
import type { Environment } from "@ostiary/lib/runtime/config";
import { type Invocation, runCommandLine } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/** How the user started the CLI: its name, arguments and environment. */
export interface CliOptions extends Pick<Invocation, "name" | "parameters" | "addMore"> {
  /** The environment of the process. */
  env: Record<string, string | undefined>;
}

const EXIT_UNWRITTEN = 1;

/** Runs the command line as a process, with its terminal and exit code. Handles Ctrl-C during the run. */
export async function runCli({ env, ...called }: CliOptions): Promise<void> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once("SIGINT", interrupt);
  const output = watchOutput();
  const variable = (name: string) => env[name];
  const code = await runCommandLine({ ...called, variable, terminal: terminalOf(env, interruption.signal) });
  // The interrupted command may still wait for a response or for input.
  if (interruption.signal.aborted) process.exit(code);
  process.off("SIGINT", interrupt);
  process.exitCode = output.unwritten ? EXIT_UNWRITTEN : code;
}

/**
 * Watches for write errors of standard output. Ignores EPIPE, which means that the reader has exited, as in
 * `bun cli services | head -1`. Reports any other error.
 */
function watchOutput(): { unwritten: boolean } {
  const output = { unwritten: false };
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    output.unwritten = true;
    process.stderr.write(`The output cannot be written (${error.code}).\n`);
    process.exitCode = EXIT_UNWRITTEN;
  });
  process.stderr.on("error", () => {});
  return output;
}

function terminalOf(env: Environment, interruption: AbortSignal): Terminal {
  return {
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    readInput: () => Bun.stdin.bytes(),
    ask: process.stdin.isTTY && process.stderr.isTTY ? askLine : null,
    colors: process.stdout.isTTY === true && !env.NO_COLOR,
    progress: process.stderr.isTTY === true,
    interruption,
  };
}

/**
 * Reads one line without raw mode, so that Ctrl-C stays a signal. Returns an empty text at the end of input.
 */
async function askLine(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const { promise, resolve } = Promise.withResolvers<string>();
  lines.once("line", resolve);
  lines.once("close", () => resolve(""));
  process.stderr.write(question);
  try {
    return await promise;
  } finally {
    lines.close();
  }
}
