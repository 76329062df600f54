/**
 * A process that runs `ostiary audit` several times, started by `bun usage-process.ts LISTS`. LISTS is a JSON
 * array with the arguments of each run. Prints the exit code of each run to standard output, and a line with
 * END after its error messages. A run that starts a job ends the process.
 */
import { runOstiary } from "@ostiary/platform/programs";

export const END = "end of run";

if (import.meta.main) {
  const lists: string[][] = JSON.parse(process.argv[2] ?? "");
  process.stdout.setMaxListeners(0);
  process.stderr.setMaxListeners(0);
  for (const parameters of lists) {
    process.exitCode = 0;
    await runOstiary({
      name: "ostiary",
      cli: "ostiary",
      parameters: ["audit", ...parameters],
      env: { DATABASE_URL: "pglite://memory" },
    });
    process.stdout.write(`${process.exitCode}\n`);
    process.stderr.write(`${END}\n`);
  }
  process.exitCode = 0;
}
