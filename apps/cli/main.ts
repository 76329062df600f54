import { runCli } from "./run.ts";

// biome-ignore lint/style/noProcessEnv: the one place that reads the environment
await runCli({ name: "bun cli", parameters: process.argv.slice(2), env: process.env });
