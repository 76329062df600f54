import { runRegistry } from "./run.ts";

await runRegistry(process.env, process.argv.slice(2));
