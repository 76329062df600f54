import { progress, runCommand, seededRun } from "../faults/command.ts";
import { tooManyUndecided, verdictTable, wrongHistories } from "./report.ts";
import { runHistories, unnoticedFaultyClients, withField } from "./run.ts";

// Records and checks histories, prints the verdicts, and ends with a text for each problem.
await runCommand(async () => {
  const { minutes, seed } = seededRun();
  return withField(progress, seed, async (field) => {
    progress("checking that each model notices a faulty client");
    const unnoticed = await unnoticedFaultyClients(field);
    const verdicts = await runHistories(field, seed, minutes * 60_000, progress);
    console.log(verdictTable(verdicts));
    return [
      ...unnoticed.map((name) => `${name}: the model did not notice the faulty client`),
      ...wrongHistories(verdicts),
      ...tooManyUndecided(verdicts),
    ];
  });
});
