/** Checks that the links in the repository's Markdown files lead to existing files, folders and headings. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { marked, type Token } from "marked";
import {
  anchorsOf,
  documents,
  isCodespan,
  isHtml,
  isLink,
  tokensOf,
} from "../../support/documents/documents.ts";
import { ROOT } from "../../support/root.ts";

const SOMEWHERE_ELSE = /^(https?:|mailto:)/;
/** Matches a path in the repository. A path with a placeholder or a wildcard does not match. */
const PATH_IN_TEXT = /^(apps|lib|tests|seeds|drizzle|\.github|\.ci)\/[\w./-]+$/;

/** Matches the end of a source file's path, such as `upstream/dial.ts`. */
const SOURCE_IN_TEXT = /^(?:\.\/)?((?:[\w-]+\/)*[\w.-]+\.tsx?)$/;

interface Found {
  document: string;
  links: string[];
  paths: string[];
  /** Ends of the paths of source files. */
  sources: string[];
}

async function pointers(document: string): Promise<Found> {
  const found: Found = { document, links: [], paths: [], sources: [] };
  marked.walkTokens(await tokensOf(document), (token: Token) => {
    if (isLink(token)) found.links.push(token.href);
    if (isHtml(token))
      found.links.push(
        ...Array.from(token.text.matchAll(/(?:href|src|srcset)="([^"]+)"/g), ([, target = ""]) => target),
      );
    if (!isCodespan(token)) return;
    if (PATH_IN_TEXT.test(token.text)) found.paths.push(token.text);
    const [, source] = SOURCE_IN_TEXT.exec(token.text) ?? [];
    if (source !== undefined) found.sources.push(source);
  });
  return found;
}

const known = new Map<string, Promise<Set<string>>>();

/** Returns the anchors of a document. Each document is read only once. */
function knownAnchorsOf(document: string): Promise<Set<string>> {
  const anchors = known.get(document) ?? anchorsOf(document);
  known.set(document, anchors);
  return anchors;
}

/** Returns the problem of a link, or an empty list if its target exists. */
async function problemsOf(document: string, link: string): Promise<string[]> {
  if (SOMEWHERE_ELSE.test(link)) return [];
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? document : normalize(join(dirname(document), decodeURIComponent(path)));
  if (target.startsWith("..") || !existsSync(join(ROOT, target)))
    return [`${document}: ${link} does not exist`];
  if (anchor === undefined || !target.endsWith(".md")) return [];
  return (await knownAnchorsOf(target)).has(anchor) ? [] : [`${document}: ${link} has no such heading`];
}

async function sourceFiles(): Promise<string[]> {
  const scans = ["apps", "lib", "tests"].map((folder) =>
    Array.fromAsync(new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scan({ cwd: ROOT })),
  );
  return (await Promise.all(scans)).flat().filter((path) => !path.includes("node_modules/"));
}

const all = await documents();
const found = await Promise.all(all.map(pointers));

describe("Markdown files", () => {
  test("link to existing files, folders and headings", async () => {
    const links = found.flatMap(({ document, links }) => links.map((link) => ({ document, link })));
    expect(links.length).toBeGreaterThan(30);
    const problems = await Promise.all(links.map(({ document, link }) => problemsOf(document, link)));
    expect(problems.flat()).toEqual([]);
  });

  test("name existing paths of the repository", async () => {
    const paths = found.flatMap(({ document, paths }) => paths.map((path) => ({ document, path })));
    const missing = paths.filter(({ path }) => !existsSync(join(ROOT, path)));
    expect(missing.map(({ document, path }) => `${document}: ${path}`)).toEqual([]);
  });

  test("name existing source files, by the end of their path", async () => {
    const sources = found.flatMap(({ document, sources }) => sources.map((source) => ({ document, source })));
    expect(sources.length).toBeGreaterThan(30);
    const files = await sourceFiles();
    const missing = sources.filter(({ source }) => !files.some((file) => `/${file}`.endsWith(`/${source}`)));
    expect(missing.map(({ document, source }) => `${document}: ${source}`)).toEqual([]);
  });
});
