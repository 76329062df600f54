import { runPortal } from "./run.ts";

// biome-ignore lint/style/noProcessEnv: the one place that reads the environment
await runPortal(process.env, process.argv.slice(2));
