import { createInterface } from "node:readline";
import { runCommandLine } from "./program.ts";
import { inAscii, isAsciiLocale } from "./terminal.ts";

// biome-ignore lint/style/noProcessEnv: the one place that reads the environment
const env = process.env;

const EXIT_UNWRITTEN = 1;
let unwritten = false;
// a reader that has seen enough, as in `bun cli services | head -1`, is no fault: the rest is dropped
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return;
  unwritten = true;
  process.stderr.write(`The output can not be written (${error.code}).\n`);
  process.exitCode = EXIT_UNWRITTEN;
});
process.stderr.on("error", () => {});

const interruption = new AbortController();
process.once("SIGINT", () => interruption.abort());

const asciiOnly = isAsciiLocale(env);
const writeTo = (stream: NodeJS.WriteStream) => (text: string) =>
  void stream.write(stream.isTTY && asciiOnly ? inAscii(text) : text);

/** The terminal's line as it is, so that Ctrl-C stays a signal; nothing where it ends without one. */
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

const code = await runCommandLine({
  name: Bun.isStandaloneExecutable ? "ostiary" : "bun cli",
  parameters: process.argv.slice(2),
  variable: (name) => env[name],
  terminal: {
    write: writeTo(process.stdout),
    writeError: writeTo(process.stderr),
    readInput: () => Bun.stdin.bytes(),
    ask: process.stdin.isTTY && process.stderr.isTTY ? askLine : null,
    colours: process.stdout.isTTY === true && !env.NO_COLOR,
    progress: process.stderr.isTTY === true,
    interruption: interruption.signal,
  },
});
// what was interrupted may still wait for its answer or its input
if (interruption.signal.aborted) process.exit(code);
process.exitCode = unwritten ? EXIT_UNWRITTEN : code;
