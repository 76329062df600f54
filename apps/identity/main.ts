import { runIdentity } from "./run.ts";

await runIdentity(process.env, process.argv.slice(2));
