import type { Verdict } from "./verify.ts";

/** What a verdict says to a person, line by line. */
export function reportLines(verdict: Verdict): string[] {
  return verdict.complete ? completeLines(verdict) : faultLines(verdict);
}

/** One sentence for what is wrong. */
export function faultSummary({ faults, faults_total }: Verdict): string {
  const [first] = faults;
  const more = faults_total > 1 ? ` (and ${faults_total - 1} more)` : "";
  return `The log is not what was sealed. ${first?.message ?? ""}${more}`;
}

function completeLines(verdict: Verdict): string[] {
  const { owner, events, entries, pending, occurred_from, occurred_to } = verdict;
  const span = occurred_from === null ? "" : ` from ${occurred_from} to ${occurred_to}`;
  const counted = events === 1 ? "1 event" : `${events} events`;
  return [
    `${counted}${span} ${events === 1 ? "is" : "are"} complete and unaltered.`,
    `  log          ${owner}, ${entries} entries${pending === 0 ? "" : `, ${pending} events without an outcome`}`,
    `  checkpoint   ${checkpointText(verdict)}`,
    ...droppedLines(verdict),
  ];
}

function checkpointText({ checkpoint }: Verdict): string {
  if (checkpoint === null) return "none: the log is empty";
  const { number, sealed_at, kid, key_given } = checkpoint;
  const signed =
    kid === null
      ? "not signed: it proves no more than copies that you kept (--checkpoint)"
      : `signed by ${kid}${key_given ? "" : ", a key that this file brings itself: give the one you trust as --keys"}`;
  return `${number} of ${sealed_at}, ${signed}`;
}

function droppedLines({ dropped_entries, dropped_before }: Verdict): string[] {
  if (dropped_entries === 0) return [];
  return [
    `  dropped      ${dropped_entries} entries of events before ${dropped_before}: their chain values stand in`,
  ];
}

const LINES_MAX = 20;

function faultLines({ events, faults, faults_total }: Verdict): string[] {
  const shown = faults.slice(0, LINES_MAX);
  const rest = faults_total - shown.length;
  return [
    `${events} events were read. First what comes first in the chain:`,
    ...shown.map(({ kind, message }) => `  ${kind.padEnd(11)}${message}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}
