import { runDemo } from "./run.ts";

await runDemo(process.env, process.argv.slice(2));
