import { runPortal } from "./run.ts";

await runPortal(process.env, process.argv.slice(2));
