import { runOstiary } from "./programs.ts";

const parameters = ["start", ...process.argv.slice(2)];
await runOstiary({ name: "bun", cli: "bun cli", parameters, env: process.env });
