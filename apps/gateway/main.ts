import { runGateway } from "./run.ts";

await runGateway(process.env, process.argv.slice(2));
