import { runCommandLine } from "./program.ts";

// biome-ignore lint/style/noProcessEnv: the one place that reads the environment
const { REGISTRY_URL, ADMIN_TOKEN, NO_COLOR } = process.env;

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  { REGISTRY_URL, ADMIN_TOKEN },
  {
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    readInput: () => Bun.stdin.bytes(),
    colours: process.stdout.isTTY === true && !NO_COLOR,
  },
);
