import { runOstiary } from "./programs.ts";

// biome-ignore lint/style/noProcessEnv: an entry reads the environment
await runOstiary({ name: "bun", parameters: ["start", ...process.argv.slice(2)], env: process.env });
