/** Functions that read the repository's Markdown files as GitHub renders them. */
import { join } from "node:path";
import { marked, type Token, type Tokens } from "marked";
import { ROOT } from "../root.ts";

/** A fenced code block of a Markdown file, with the nearest heading above it. */
interface Block {
  heading: string;
  language: string;
  text: string;
}

export async function documents(): Promise<string[]> {
  const found = await Array.fromAsync(new Bun.Glob("**/*.md").scan({ cwd: ROOT, dot: true }));
  return found.filter((path) => !/(^|\/)(node_modules|\.ostiary|\.git)\//.test(path)).sort();
}

export async function tokensOf(path: string): Promise<Token[]> {
  return marked.lexer(await Bun.file(join(ROOT, path)).text());
}

export async function blocksOf(path: string): Promise<Block[]> {
  const blocks: Block[] = [];
  let heading = "";
  for (const token of await tokensOf(path)) {
    if (isHeading(token)) heading = token.text;
    if (isCode(token)) blocks.push({ heading, language: token.lang ?? "", text: `${token.text}\n` });
  }
  return blocks;
}

/**
 * Returns the blocks of shell commands under a heading of a Markdown file. Throws if the heading has no such
 * blocks.
 */
export async function commandsOf(path: string, heading: string): Promise<string[]> {
  const blocks = (await blocksOf(path)).filter(
    (block) => block.heading === heading && block.language === "sh",
  );
  if (blocks.length === 0) throw new Error(`${path} has no commands under "${heading}".`);
  return blocks.map(({ text }) => text);
}

/** Returns the anchors that GitHub creates for the headings of a Markdown file. */
export async function anchorsOf(path: string): Promise<Set<string>> {
  const anchors = new Set<string>();
  for (const heading of (await tokensOf(path)).filter(isHeading)) {
    const words = marked.parseInline(heading.text, { async: false }).replace(/<[^>]+>|&[a-z0-9#]+;/g, "");
    const name = words
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
    let anchor = name;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${name}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}

export function isCodespan(token: Token): token is Tokens.Codespan {
  return token.type === "codespan";
}
export function isLink(token: Token): token is Tokens.Link | Tokens.Image {
  return token.type === "link" || token.type === "image";
}
export function isHtml(token: Token): token is Tokens.HTML {
  return token.type === "html";
}
function isHeading(token: Token): token is Tokens.Heading {
  return token.type === "heading";
}
function isCode(token: Token): token is Tokens.Code {
  return token.type === "code";
}
