import { progress, runCommand } from "../faults/command.ts";
import { type Parameters, parametersOf } from "./parameters.ts";
import { tooManyUndecided, verdictTable, wrongHistories } from "./report.ts";
import { runHistories, unnoticedFaultyClients, withField } from "./run.ts";

await runCommand(async () => wrongIn(parametersOf(process.argv.slice(2))));

/** Records and checks histories, prints the verdicts, and returns a text for each problem. */
function wrongIn({ minutes, seed, recorders }: Parameters): Promise<string[]> {
  progress(`seed ${seed}`);
  return withField(progress, seed, async (field) => {
    progress("checking that each model notices a faulty client");
    const unnoticed = await unnoticedFaultyClients(field, recorders);
    const untilMs = performance.now() + minutes * 60_000;
    const goesOn = () => performance.now() < untilMs;
    const verdicts = await runHistories(field, { recorders, seed, goesOn }, progress);
    console.log(verdictTable(verdicts));
    return [
      ...unnoticed.map((name) => `${name}: the model did not notice the faulty client`),
      ...wrongHistories(verdicts),
      ...tooManyUndecided(verdicts),
    ];
  });
}
