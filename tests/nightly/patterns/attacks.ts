import type { SourcePattern } from "../../support/documents/source-code.ts";

/** A text with a repeated `unit`, which can make a pattern backtrack. */
export interface Attack {
  start: string;
  unit: string;
  end: string;
}

const ENDS = ["", "\u0001", "!", "\n"];
/** The units to repeat for every pattern. The characters of the pattern itself are added to them. */
const COMMON = [..." \ta0Z/\\\"'%{}[]().,:;-_=@#\r\n\u00a0é", "🚪", "%2e", "a ", "{a", "a."];

/** Returns attacks that repeat common characters, characters of the pattern, and parts of a matching text. */
export function attacksOn(pattern: SourcePattern): Attack[] {
  const units = new Set([...COMMON, ...new Set(pattern.source.replace(/\\[a-z]/g, ""))]);
  const text = readAsText(pattern.source);
  const starts = new Set(["", "a", "/", '"', "{", text]);
  const plain = [...units].flatMap((unit) => [...starts].map((start) => ({ start, unit, end: "" })));
  return [...plain, ...pumped(text)].flatMap((attack) =>
    ENDS.map((end) => ({ ...attack, end: attack.end + end })),
  );
}

/** Returns attacks that repeat each short part of `sample` in its position, with and without the rest. */
function pumped(sample: string): Attack[] {
  const attacks: Attack[] = [];
  for (let from = 0; from < Math.min(sample.length, 24); from++) {
    for (let length = 1; length <= 4 && from + length <= sample.length; length++) {
      const unit = sample.slice(from, from + length);
      const start = sample.slice(0, from);
      attacks.push({ start, unit, end: "" }, { start, unit, end: sample.slice(from + length) });
    }
  }
  return attacks;
}

/** Returns a text that a pattern probably matches: one character for each class, and no repetition. */
function readAsText(source: string): string {
  return source
    .replace(/\[\^(?:\\.|[^\]\\])*\]/g, "a")
    .replace(/\[(\\?.)(?:\\.|[^\]\\])*\]/g, "$1")
    .replace(/\(\?(?:<?[=!]|:|<\w+>)|(?<!\\)(?:[\^$()|*+?.]|\{\d+,?\d*\})/g, "")
    .replace(/\\x([0-9a-f]{2})|\\u([0-9a-f]{4})/gi, (_, short, long) =>
      String.fromCharCode(Number.parseInt(short ?? long, 16)),
    )
    .replace(/\\(.)/g, (_, letter) => ESCAPES[letter] ?? letter);
}

const ESCAPES: Record<string, string> = {
  d: "0",
  D: "a",
  s: " ",
  S: "a",
  w: "a",
  W: " ",
  n: "\n",
  r: "\r",
  t: "\t",
};
