import { runOstiary } from "./programs.ts";

const parameters = process.argv.slice(2);
await runOstiary({ name: "ostiary", cli: "ostiary", parameters, env: process.env });
