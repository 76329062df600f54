import { type MarkedChange, settingChanges, subjectOf, summaryOf } from "@ostiary/lib/domain/routes";
import type { Review, ServiceReview } from "./review.ts";

/** The maximum length of the Markdown text. GitHub refuses comments of more than 65 536 characters. */
const LENGTH_MAX = 60_000;
const HEAD = "| | Route | Scope | Change | Review |\n|---|---|---|---|---|\n";

/**
 * Returns a review as GitHub-flavoured Markdown, for a comment on a pull request. Each service has a table, which
 * lists changes with an effect first. A last line counts the changes that do not fit.
 */
export function reviewMarkdown({ services, counts }: Review): string {
  const changed = services.filter(({ changes }) => changes.length > 0).toSorted(markedFirst);
  const total = changed.reduce((sum, { changes }) => sum + changes.length, 0);
  let text = `### Route changes\n\n${summaryOf(total, counts)}\n`;
  let left = total;
  for (const { service, state, changes } of changed) {
    let section = `\n**${code(service)}**, ${state}\n\n${HEAD}`;
    let rows = 0;
    for (const row of changes.toSorted(markedFirst).map(rowOf)) {
      if (text.length + section.length + row.length > LENGTH_MAX) break;
      section += row;
      rows++;
    }
    if (rows > 0) text += section;
    left -= rows;
    if (rows < changes.length) break;
  }
  if (left > 0) text += `\n${left} more changes do not fit into a comment.\n`;
  return text;
}

type Marked = Pick<ServiceReview, "changes"> | MarkedChange;

function markedFirst(one: Marked, other: Marked): number {
  return Number(hasMarks(other)) - Number(hasMarks(one));
}

function hasMarks(of: Marked): boolean {
  return "marks" in of ? of.marks.length > 0 : of.changes.some(({ marks }) => marks.length > 0);
}

function rowOf(change: MarkedChange): string {
  const subject = subjectOf(change);
  const cells = [
    change.action,
    subject.method === null ? code(subject.name) : `${subject.method} ${code(subject.path)}`,
    subject.scope ?? "",
    settingChanges(change)
      .map(({ name, before, after }) => {
        const sides = [before, after].filter((side) => side !== null).map(code);
        return `${subject.method === null ? "" : `${name}: `}${sides.join(" → ")}`;
      })
      .join("<br>"),
    change.marks.map(({ effect, reason }) => `**${effect}**: ${plain(reason)}`).join("<br>"),
  ];
  return `| ${cells.join(" | ")} |\n`;
}

/** Formats text as an HTML code element, because text between backticks can end a cell of a table. */
function code(text: string): string {
  return `<code>${plain(text)}</code>`;
}

/** Escapes text so that no part of it is Markdown or HTML, or ends a table cell. */
function plain(text: string): string {
  return text.replace(/[^A-Za-z0-9 ,.;:/{}()'%=+-]/gu, (character) => `&#${character.codePointAt(0)};`);
}
