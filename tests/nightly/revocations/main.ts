/** Changes admissions under faults, and checks what gateways admit: `bun run nightly revocations`. */
import { markdownTable } from "../bench/measure/table.ts";
import { progress, runCommand, seededRun } from "../faults/command.ts";
import { type Result, runRevocations } from "./run.ts";

const HISTORIES_SHOWN_MAX = 5;

await runCommand(async () => {
  const { minutes, seed } = seededRun();
  const result = await runRevocations(seed, minutes * 60_000, progress);
  const rows = [...result.counts].sort().map(([name, times]) => [name, String(times)]);
  console.log(markdownTable(["Operation or fault", "times"], rows));
  progress(summaryOf(result));
  return [
    ...result.broken.slice(0, HISTORIES_SHOWN_MAX),
    ...(result.decided > 0 ? [] : ["nothing was checked"]),
  ];
});

function summaryOf({ histories, decided, cutOff, delayed, latestMs, broken }: Result): string {
  return [
    `${histories} credentials, ${decided} uses judged, ${broken.length} credentials broke the promise.`,
    `Latest use of an old admission with contact: ${Math.round(latestMs)} ms after the response.`,
    `Uses of an old admission after two seconds: ${cutOff} without contact, ${delayed} while processes waited for a processor.`,
  ].join("\n");
}
