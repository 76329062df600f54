import { runOstiary } from "./programs.ts";

const parameters = process.argv.slice(2);
// biome-ignore lint/style/noProcessEnv: an entry reads the environment
await runOstiary({ name: "ostiary", cli: "ostiary", parameters, env: process.env });
