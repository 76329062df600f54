import { join } from "node:path";
import { ROOT } from "../support/root.ts";
import { bootFailures, logWarnings, refusalsOfVariables } from "./messages.ts";
import { aligned } from "./variable-table.ts";

export const errorsPath = join(ROOT, ".github/ERRORS.md");

/** The tables of ERRORS.md whose rows begin with a message: the titles of their sections, and the messages. */
export const messageTables = [
  { what: "refusal of a variable for more than its own rule", title: /^Refused/, find: refusalsOfVariables },
  { what: "reason why a store or a folder cannot be used", title: /^(Stores|Folders)/, find: bootFailures },
  { what: "warning and error of the log", title: /^Warnings/, find: logWarnings },
] as const;

/** The minimum share of common words with which a new message counts as a reworded old one. */
const ALIKE = 0.3;

/** Matches a table with its head. */
const TABLE = /(?:^\|.*\n)+/gm;

/** Returns each table of a document as its rows of cells, the head first. */
export function tablesOf(document: string): string[][][] {
  return (document.match(TABLE) ?? []).map(cellsOf);
}

/** Returns the messages in the tables of the sections with this title. */
export function listedMessages(document: string, title: RegExp): string[] {
  const sections = document.split(/^## /m).filter((section) => title.test(section));
  return sections.flatMap(tablesOf).flatMap(([, ...rows]) => rows.map(([message = ""]) => message));
}

/**
 * Returns ERRORS.md with the new text of each reworded message. A person must remove the row of a message that is
 * gone, and explain a new message.
 */
export async function withMessages(document: string): Promise<string> {
  let written = document;
  for (const { title, find } of messageTables) {
    const listed = new Set(listedMessages(document, title));
    const current = new Set(await find());
    for (const [before, after] of rewordings(listed.difference(current), current.difference(listed)))
      written = written.replace(`\n| ${before} `, () => `\n| ${after} `);
  }
  return written.replace(TABLE, (table) => aligned(cellsOf(table)));
}

/** Returns the cells of each row, without the line of dashes. */
function cellsOf(table: string): string[][] {
  const cells = (line: string) => line.slice(1, -1).split(" | ");
  const lines = table.trimEnd().split("\n").toSpliced(1, 1);
  return lines.map((line) => cells(line).map((cell) => cell.trim()));
}

/** Pairs messages that are gone with new ones. Messages with more words in common are paired first. */
function rewordings(gone: ReadonlySet<string>, fresh: ReadonlySet<string>): Map<string, string> {
  const pairs = [...gone].flatMap((before) =>
    [...fresh].map((after) => ({ before, after, share: sharedWords(before, after) })),
  );
  const found = new Map<string, string>();
  const free = new Set(fresh);
  for (const { before, after, share } of pairs.toSorted((one, other) => other.share - one.share)) {
    if (share < ALIKE) break;
    if (!found.has(before) && free.delete(after)) found.set(before, after);
  }
  return found;
}

function sharedWords(one: string, other: string): number {
  const wordsOf = (text: string) => new Set(text.toLowerCase().match(/\w+/g));
  const [ours, theirs] = [wordsOf(one), wordsOf(other)];
  return (2 * ours.intersection(theirs).size) / (ours.size + theirs.size);
}
