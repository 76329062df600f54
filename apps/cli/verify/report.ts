import { cosignedCount, type EnglishVerdict } from "@ostiary/lib/verification";
import { ENGLISH, sentenceOf } from "@ostiary/lib/verification/findings";
import { witnessLines } from "./witnesses.ts";

/** Returns the lines that explain a verdict to a person. */
export function reportLines(verdict: EnglishVerdict): string[] {
  if (verdict.result === "altered") return problemLines(verdict);
  if (verdict.result === "unwitnessed") return unwitnessedLines(verdict);
  return verdict.result === "complete" ? completeLines(verdict) : undecidedLines(verdict);
}

/** Returns one sentence about the problems. */
export function problemSummary({ faults, faults_total }: EnglishVerdict): string {
  const [first] = faults;
  const more = faults_total > 1 ? ` (and ${faults_total - 1} more)` : "";
  const what =
    first?.kind === "unreadable"
      ? "The file is not a readable export with proof."
      : "The log differs from what was sealed.";
  return `${what} ${first?.message ?? ""}${more}`;
}

/** Returns one sentence about the reason why too few witnesses vouch for the log. */
export function unwitnessedSummary({ witnesses }: EnglishVerdict): string {
  const why = witnesses?.lack == null ? "" : ` ${sentenceOf(witnesses.lack, ENGLISH)}`;
  return `This log lacks cosignatures of its witnesses.${why}`;
}

/** Returns one sentence about what the files do not show. */
export function undecidedSummary({ undecided }: EnglishVerdict): string {
  const more = undecided.length > 1 ? ` (and ${undecided.length - 1} more)` : "";
  return `No problem was found, but these files do not show everything that was asked. ${undecided[0] ?? ""}${more}`;
}

function completeLines(verdict: EnglishVerdict): string[] {
  return [
    `${countedEvents(verdict)} ${verdict.events === 1 ? "is" : "are"} complete and unaltered.`,
    ...factLines(verdict),
  ];
}

function unwitnessedLines(verdict: EnglishVerdict): string[] {
  return [
    `${countedEvents(verdict)} ${verdict.events === 1 ? "is" : "are"} unaltered, but the log lacks cosignatures of its witnesses.`,
    ...openLines(verdict),
    ...factLines(verdict),
  ];
}

function openLines({ undecided }: EnglishVerdict): string[] {
  const shown = undecided.slice(0, LINES_MAX).map((message) => `  open         ${message}`);
  return [...shown, ...restLine(undecided.length - LINES_MAX)];
}

function undecidedLines(verdict: EnglishVerdict): string[] {
  return [
    `${countedEvents(verdict)} ${verdict.events === 1 ? "is" : "are"} unaltered. These files do not show:`,
    ...openLines(verdict),
    ...factLines(verdict),
  ];
}

function countedEvents({ events, occurred_from, occurred_to }: EnglishVerdict): string {
  const span = occurred_from === null ? "" : ` from ${occurred_from} to ${occurred_to}`;
  return `${events === 1 ? "1 event" : `${events} events`}${span}`;
}

function factLines(verdict: EnglishVerdict): string[] {
  const { owner, entries, pending } = verdict;
  return [
    `  log          ${owner}, ${entries} entries${pending === 0 ? "" : `, ${pending} events without an outcome`}`,
    `  checkpoint   ${checkpointText(verdict)}`,
    ...treeLines(verdict),
    ...witnessedLines(verdict),
    ...headLines(verdict),
    ...droppedLines(verdict),
    ...verdict.not_shown.map((fact) => `  not shown    ${fact}`),
  ];
}

function checkpointText({ checkpoint }: EnglishVerdict): string {
  if (checkpoint === null) return "none: the log is empty";
  const { number, sealed_at, kid, key_given } = checkpoint;
  const signed =
    kid === null
      ? "not signed: compare it with copies that you kept (--checkpoint)"
      : `signed by ${kid}${key_given ? "" : ", a key from this file itself: give the key that you trust as --keys"}`;
  return `${number} of ${sealed_at}, ${signed}`;
}

function treeLines({ tree }: EnglishVerdict): string[] {
  if (tree === null) return [];
  return [
    `  tree         the checkpoints are in the tree of ${tree.size} checkpoints whose root ${tree.origin} signed`,
  ];
}

function witnessedLines({ witnesses }: EnglishVerdict): string[] {
  if (witnesses === null) return [];
  const { size, lack, quorum } = witnesses;
  const total = witnesses.witnesses.length;
  const seen = `${cosignedCount(witnesses.witnesses)} of ${total} cosigned the tree of ${size} checkpoints; at least ${quorum} must`;
  const what = lack === null || lack.code === "cosigned_by_few" ? seen : sentenceOf(lack, ENGLISH);
  return [`  witnesses    ${what}`, ...(size === null ? [] : witnessLines(witnesses.witnesses))];
}

function headLines({ heads }: EnglishVerdict): string[] {
  const [first, last] = [heads[0], heads.at(-1)];
  if (first === undefined || last === undefined) return [];
  const which =
    heads.length === 1
      ? `at checkpoint ${first.checkpoint} of ${first.sealed_at}`
      : `at ${heads.length} earlier checkpoints, from ${first.checkpoint} of ${first.sealed_at} to ${last.checkpoint} of ${last.sealed_at}`;
  return [`  heads        the log was neither cut nor rewritten ${which}`];
}

function droppedLines({ dropped_entries, dropped_before }: EnglishVerdict): string[] {
  if (dropped_entries === 0) return [];
  return [
    `  dropped      ${dropped_entries} entries of events before ${dropped_before}: only their hashes are left`,
  ];
}

const LINES_MAX = 20;

function problemLines({ events, faults, faults_total }: EnglishVerdict): string[] {
  const shown = faults.slice(0, LINES_MAX);
  const rest = faults_total - shown.length;
  return [
    `${events} events were read. Problems, in the order of the chain:`,
    ...shown.map(({ kind, message }) => `  ${kind.padEnd(11)}${message}`),
    ...restLine(rest),
  ];
}

function restLine(rest: number): string[] {
  return rest > 0 ? [`  and ${rest} more`] : [];
}
