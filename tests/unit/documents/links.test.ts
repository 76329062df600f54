import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { marked, type Token } from "marked";
import { anchorsOf, documents, isCodespan, isHtml, isLink, ROOT, tokensOf } from "../../support/documents.ts";

/** Links of the repository's Markdown files lead to existing files, folders, headings and pictures. */

const SOMEWHERE_ELSE = /^(https?:|mailto:)/;
/**
 * Folders of the repository as texts name them. A name with a placeholder or a pattern names no single file.
 */
const PATH_IN_TEXT = /^(apps|lib|tests|seeds|drizzle|\.github|\.ci)\/[\w./-]+$/;

interface Found {
  document: string;
  links: string[];
  paths: string[];
}

async function pointers(document: string): Promise<Found> {
  const found: Found = { document, links: [], paths: [] };
  marked.walkTokens(await tokensOf(document), (token: Token) => {
    if (isLink(token)) found.links.push(token.href);
    if (isHtml(token))
      found.links.push(
        ...Array.from(token.text.matchAll(/(?:href|src|srcset)="([^"]+)"/g), ([, target = ""]) => target),
      );
    if (isCodespan(token) && PATH_IN_TEXT.test(token.text)) found.paths.push(token.text);
  });
  return found;
}

const known = new Map<string, Promise<Set<string>>>();

/** Returns the anchors of a document, which is read once. */
function knownAnchorsOf(document: string): Promise<Set<string>> {
  const anchors = known.get(document) ?? anchorsOf(document);
  known.set(document, anchors);
  return anchors;
}

/** Returns why a link leads nowhere; empty when it leads somewhere. */
async function fault(document: string, link: string): Promise<string[]> {
  if (SOMEWHERE_ELSE.test(link)) return [];
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? document : normalize(join(dirname(document), decodeURIComponent(path)));
  if (target.startsWith("..") || !existsSync(join(ROOT, target)))
    return [`${document}: ${link} is not there`];
  if (anchor === undefined || !target.endsWith(".md")) return [];
  return (await knownAnchorsOf(target)).has(anchor) ? [] : [`${document}: ${link} has no such heading`];
}

const all = await documents();
const found = await Promise.all(all.map(pointers));

describe("Markdown files", () => {
  test("are found, also in folders that begin with a dot", () => {
    expect(all).toEqual(
      expect.arrayContaining(["README.md", ".github/ARCHITECTURE.md", "apps/gateway/README.md"]),
    );
    expect(all.filter((path) => path.includes("node_modules"))).toEqual([]);
  });

  test("link to existing files, folders and headings", async () => {
    const links = found.flatMap(({ document, links }) => links.map((link) => ({ document, link })));
    expect(links.length).toBeGreaterThan(30);
    const faults = await Promise.all(links.map(({ document, link }) => fault(document, link)));
    expect(faults.flat()).toEqual([]);
  });

  test("name existing paths of the repository", async () => {
    const paths = found.flatMap(({ document, paths }) => paths.map((path) => ({ document, path })));
    const missing = paths.filter(({ path }) => !existsSync(join(ROOT, path)));
    expect(missing.map(({ document, path }) => `${document}: ${path}`)).toEqual([]);
  });
});

describe("a link", () => {
  test.each([
    ["of a file that is not there", "nowhere.md", "is not there"],
    ["that leaves the repository", "../../../etc/passwd", "is not there"],
    ["to a heading that is not there", "README.md#nothing", "has no such heading"],
    ["to a heading of its own file that is not there", "#nothing", "has no such heading"],
    ["with an escape that leads nowhere", "READ%20ME.md", "is not there"],
  ])("%s is found out", async (_, link, reason) => {
    expect(await fault("README.md", link)).toEqual([`README.md: ${link} ${reason}`]);
  });

  test("to a heading, as GitHub names it, is accepted", async () => {
    expect(await fault("README.md", ".github/ARCHITECTURE.md#the-life-of-a-request")).toEqual([]);
    expect(await fault("README.md", "#when-to-take-it-and-when-something-else")).toEqual([]);
  });
});
