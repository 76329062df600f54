import { textsIn, type Written } from "../support/documents/source-code.ts";

/** A phrase that plain English avoids, with advice on what to write instead. */
interface Avoided {
  readonly pattern: RegExp;
  readonly advice: string;
}

const AVOIDED: readonly Avoided[] = [
  { pattern: /\bcan not\b/i, advice: "write `cannot`" },
  { pattern: /\bneed not be\b/i, advice: "write `does not have to be`, or say who does not need it" },
  { pattern: /\b(?:is|are|was|were|has|have) (?:not )?to be\b/i, advice: "write `must` or `can`" },
  {
    pattern: /\b(?:whoever|whomever|whosoever|thereby|thereof|therein)\b/i,
    advice: "name the person or thing",
  },
  { pattern: /\b(?:none|one) of (?:ours|its own|them that)\b/i, advice: "name the thing" },
  { pattern: /\bof (?:which|whom)\b/i, advice: "make it a sentence of its own" },
  { pattern: /\bmeanwhile\b/i, advice: "say during what" },
  { pattern: /\bso (?:many|much) as\b|\bin so many\b/i, advice: "write the number" },
  { pattern: /\bthe (?:former|latter)\b/i, advice: "repeat the noun" },
  { pattern: /\bby hand and\b|\bwithout a word\b|\bin its place\b/i, advice: "say what happens" },
];

/** Matches the beginnings of sentences that have no subject. */
const HEADLESS =
  /^(?:Of|Those|Whose|Who|Whom|Whether that|Nor|Such) [a-z]|^(?:By|As|What|Not) (?!the following|default\b)[a-z]/;

/** A piece of prose, such as a paragraph or a comment, with the line where it starts. */
interface Prose {
  readonly text: string;
  readonly line: number;
}

/** Returns a text for each problem in the prose of a file. */
export function proseProblems(path: string, texts: readonly Prose[]): string[] {
  return texts.flatMap(({ text, line }) =>
    sentencesOf(text).flatMap((sentence) =>
      problemsOf(sentence).map((problem) => `${path}:${line} ${problem}: ${sentence}`),
    ),
  );
}

function problemsOf(sentence: string): string[] {
  const avoided = AVOIDED.flatMap(({ pattern, advice }) => {
    const [found] = pattern.exec(sentence) ?? [];
    return found === undefined ? [] : [`"${found}": ${advice}`];
  });
  // Headings of tables, which do not end with punctuation, may lack a subject. A question may begin with "What".
  const isWhole = /[.:;!]$/.test(sentence);
  const headless = isWhole && HEADLESS.test(sentence) ? ["a sentence without a subject"] : [];
  return [...avoided, ...headless];
}

/**
 * Returns a text for each line of a Markdown file, outside of code blocks, on which code in backticks begins and does
 * not end.
 */
export function brokenCodeProblems(path: string, text: string): string[] {
  return withoutCodeBlocks(text)
    .split("\n")
    .flatMap((row, index) => {
      const isBroken = row.replaceAll(/``.+?``|`[^`]*`/g, "").includes("`");
      return isBroken ? [`${path}:${index + 1} code is broken across two lines: keep it on one`] : [];
    });
}

/** Splits a text into sentences. Periods in code and in addresses of links do not end a sentence. */
function sentencesOf(text: string): string[] {
  return text
    .replaceAll(/``.+?``|`[^`]*`/gs, "`code`")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\s+/g, " ")
    .split(/(?<=[.:;!?]) /)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/**
 * Returns the paragraphs, list items and table cells of a Markdown text, without code blocks and headings.
 */
export function proseOfMarkdown(text: string): Prose[] {
  const found: Prose[] = [];
  let line = 1;
  for (const block of withoutCodeBlocks(text).split("\n\n")) {
    const first = line + block.length - block.trimStart().length;
    line += block.split("\n").length + 1;
    if (/^#|^\s*$|^<!--/.test(block.trim())) continue;
    if (!/^\s*\||^[-*] |^\d+\. /m.test(block)) {
      found.push({ text: block.trim().replace(/^\*\*[A-Z]{2}-\d+\*\* /, ""), line: first });
      continue;
    }
    for (const [index, row] of block.split("\n").entries()) {
      const cells = row
        .split("|")
        .map((cell) => cell.trim())
        .filter((cell) => /[a-z]/i.test(cell));
      for (const cell of cells)
        found.push({ text: cell.replace(/^(?:[-*]|\d+\.) /, ""), line: first + index });
    }
  }
  return found;
}

/** Returns a Markdown text with the lines of its code blocks empty. */
function withoutCodeBlocks(text: string): string {
  return text.replaceAll(/^( *)```.*?^\1```$/gms, (code) => code.replaceAll(/[^\n]/g, ""));
}

/** Returns the comments in a file that is not Markdown, without indented lines of `#` comments, which are code. */
export function proseOfComments(path: string, text: string): Prose[] {
  const found: Prose[] = [];
  for (const { text: comment, index } of commentsOf(path, text)) {
    const plain = comment
      .replaceAll(/^[ \t]*\/\/ (?:biome-ignore .*|[A-Z]{2}-\d[A-Z\d, -]*)$/gm, "")
      .replaceAll(/^[ \t]*# {2,}.*$/gm, "")
      .replaceAll(/^\s*(?:\/\*\*?|\*\/|\*|\/\/|#|--)|\*\/$/gm, "")
      .trim();
    if (plain === "") continue;
    found.push({
      text: plain.replaceAll(/\{@link (\w+)\}/g, "`$1`"),
      line: text.slice(0, index).split("\n").length,
    });
  }
  return found;
}

function commentsOf(path: string, text: string): readonly Written[] {
  return /\.(?:tsx?|js)$/.test(path)
    ? joinLines(textsIn(path, text).comments, text)
    : Array.from(text.matchAll(commentPattern(path)), ({ 0: found, index }) => ({ text: found, index }));
}

/** Returns a pattern for the comments in a file of another language. Consecutive lines are one comment. */
function commentPattern(path: string): RegExp {
  if (path.endsWith(".css")) return /\/\*.*?\*\//gs;
  return path.endsWith(".sql")
    ? /(?:^[ \t]*--[^\n]*\n)+/gm
    : /(?:^[ \t]*#(?!!)[^\n]*\n)+|(?<=\S +)# [^\n]*/gm;
}

/** Joins comments of `//` that are on consecutive lines. */
function joinLines(comments: readonly Written[], code: string): readonly Written[] {
  const joined: Written[] = [];
  for (const comment of comments) {
    const before = joined.at(-1);
    const end = before === undefined ? 0 : before.index + before.text.length;
    if (before?.text.startsWith("//") && /^\n[ \t]*$/.test(code.slice(end, comment.index))) {
      joined.pop();
      joined.push({
        text: code.slice(before.index, comment.index + comment.text.length),
        index: before.index,
      });
    } else joined.push(comment);
  }
  return joined;
}

/** A word of prose with its punctuation. It may be a name or a number, but has no other signs of code. */
const PLAIN_WORD = /^[("“]*[\p{L}\d][\p{L}\d_'’./:%+-]*[.,:;!?)"”…]*$/u;
const MESSAGE_WORDS_MIN = 5;

/**
 * Returns the strings in TypeScript code that people read: at least five words, and at most a quarter of them with
 * signs of code. A `${…}` in a template counts as one word.
 */
export function proseOfMessages(path: string, code: string): Prose[] {
  return textsIn(path, code).strings.flatMap(({ text, index }) => {
    const plain = text.replaceAll("\\n", "\n").replaceAll(/\\(.)/g, "$1").replaceAll("…", "value");
    const words = plain
      .replaceAll(/`[^`]*`/g, "code")
      .split(/\s+/)
      .filter((word) => word !== "");
    const strange = words.filter((word) => !PLAIN_WORD.test(word));
    if (words.length < MESSAGE_WORDS_MIN || strange.length > words.length / 4) return [];
    const line = code.slice(0, index).split("\n").length;
    return [{ text: plain, line }];
  });
}
