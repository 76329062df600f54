import { runCli } from "./run.ts";

await runCli({ name: "bun cli", parameters: process.argv.slice(2), env: process.env });
