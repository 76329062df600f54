import { runGateway } from "./run.ts";

// biome-ignore lint/style/noProcessEnv: the one place that reads the environment
await runGateway(process.env, process.argv.slice(2));
