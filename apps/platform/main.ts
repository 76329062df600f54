import { runOstiary } from "./programs.ts";

const parameters = ["start", ...process.argv.slice(2)];
// biome-ignore lint/style/noProcessEnv: an entry reads the environment
await runOstiary({ name: "bun", cli: "bun cli", parameters, env: process.env });
