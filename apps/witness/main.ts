import { runWitness } from "./run.ts";

// biome-ignore lint/style/noProcessEnv: the one place that reads the environment
await runWitness(process.env);
