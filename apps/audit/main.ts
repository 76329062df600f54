import { runAudit } from "./run.ts";

await runAudit(process.env, process.argv.slice(2));
