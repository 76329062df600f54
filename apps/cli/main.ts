import { runCommandLine } from "./program.ts";

// biome-ignore lint/style/noProcessEnv: the one place that reads the environment
const { REGISTRY_URL, ADMIN_TOKEN, NO_COLOR } = process.env;

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

const code = await runCommandLine(
  process.argv.slice(2),
  { REGISTRY_URL, ADMIN_TOKEN },
  {
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    readInput: () => Bun.stdin.bytes(),
    colours: process.stdout.isTTY === true && !NO_COLOR,
    progress: process.stderr.isTTY === true,
    interruption: interruption.signal,
  },
);
// what was interrupted may still wait for its answer or its input
if (interruption.signal.aborted) process.exit(code);
process.exitCode = unwritten ? EXIT_UNWRITTEN : code;
