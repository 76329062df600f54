import { runDemo } from "./run.ts";

// biome-ignore lint/style/noProcessEnv: the one place that reads the environment
await runDemo(process.env, process.argv.slice(2));
