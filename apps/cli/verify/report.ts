import { englishOf, type Verdict } from "@ostiary/lib/verification";
import { onOneLine } from "../terminal.ts";

const LINES_MAX = 20;

/** Returns one sentence about a verdict that is not complete. */
export function summaryOf({ result, findings, findings_total }: Verdict): string {
  const [first] = findings;
  const more = findings_total > 1 ? ` (and ${findings_total - 1} more)` : "";
  const what =
    result === "altered"
      ? "The log is altered."
      : "The log is undecided: the files do not prove completeness.";
  return onOneLine(`${what} ${first === undefined ? "" : englishOf(first)}${more}`);
}

/** Returns the lines that explain a verdict to a person. A name in the file cannot add one. */
export function reportLines(verdict: Verdict): string[] {
  const { result, findings, findings_total } = verdict;
  const rest = findings_total - LINES_MAX;
  return [
    `${eventsOf(verdict)} ${RESULTS[result]}`,
    ...findings.slice(0, LINES_MAX).map((finding) => `  finding      ${englishOf(finding)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    ...(result === "altered" ? [] : factLines(verdict)),
  ];
}

const RESULTS: Readonly<Record<Verdict["result"], string>> = {
  complete: "complete and unaltered.",
  altered: "not what was sealed: the log is altered.",
  undecided: "undecided: nothing is wrong, but the files do not prove completeness.",
};

function eventsOf({ events, occurred_from, occurred_to, owner }: Verdict): string {
  const span = occurred_from === null ? "" : ` from ${occurred_from} to ${occurred_to}`;
  const count = events === 1 ? "1 event" : `${events} events`;
  return `${count}${span} of ${owner ?? "an unknown owner"} ${events === 1 ? "is" : "are"}`;
}

function factLines(verdict: Verdict): string[] {
  const { entries, pending, owner_given, root, keys, key_given, kept, heads, witnesses } = verdict;
  const line = (name: string, text: string) => `  ${name.padEnd(11)}  ${text}`;
  const given = owner_given ? "as --owner names it" : "not compared: name the owner as --owner";
  return [
    line("owner", `${verdict.owner}, ${given}`),
    line("entries", `${entries}${pending === 0 ? "" : `, ${pending} events without an outcome`}`),
    ...(root === null
      ? []
      : [line("root", `${root.hash} of ${root.origin}, size ${root.size}, ${root.sealed_at}`)]),
    ...keys.map((key) =>
      line("key", `${key}${key_given ? "" : ", under a key that you have not confirmed: --key"}`),
    ),
    ...kept.map(({ name, size }) => line("kept root", `${name}, size ${size}: the log continues it`)),
    ...(heads === 0 ? [] : [line("heads", `${heads} earlier heads are on the chain`)]),
    ...(witnesses?.cosignatures ?? []).map(({ name, cosigned_at }) =>
      line("witness", `${name}, ${cosigned_at ?? "no cosignature"}`),
    ),
    ...noticeLines(verdict, line),
  ];
}

function noticeLines(
  { dropped, restarts, earlier_trees }: Verdict,
  line: (name: string, text: string) => string,
): string[] {
  const which =
    dropped === null ? "" : `${dropped.entries} entries, up to ${dropped.month}: only hashes are left`;
  return [
    ...(dropped === null ? [] : [line("dropped", which)]),
    ...restarts.map(({ declared_at, from, position }) =>
      line(
        "restart",
        `declared ${declared_at} at position ${position}: entries from ${from} may be missing or altered`,
      ),
    ),
    ...earlier_trees.map(({ declared_at, size, origin }) =>
      line(
        "restart",
        `declared ${declared_at}: the log was ${origin} before, with size ${size}; its entries may be missing or altered`,
      ),
    ),
  ];
}
