import { describe, expect, test } from "bun:test";
import { type Change, markChanges } from "@ostiary/lib/domain/routes";
import fc from "fast-check";
import { marked, type Token, type Tokens } from "marked";
import { reviewMarkdown } from "../../../apps/cli/review/markdown.ts";
import type { ServiceReview } from "../../../apps/cli/review/review.ts";
import { runs } from "../../support/runs.ts";

/** The maximum length of a GitHub comment. */
const COMMENT_LENGTH_MAX = 65_536;

function review(services: Pick<ServiceReview, "service" | "changes">[]) {
  const counts = { opens: 0, breaks: 0 };
  return reviewMarkdown({ services: services.map((each) => ({ ...each, state: "changed" })), counts });
}

function removed(path: string, more: object = {}): Change {
  return {
    action: "removed",
    scope: "user",
    method: "GET",
    path,
    before: { upstream: path, ...more },
    after: null,
  };
}

/** Returns the tables that a parser of GitHub Flavored Markdown finds. */
function tablesOf(markdown: string): Tokens.Table[] {
  return marked.lexer(markdown).filter((token: Token): token is Tokens.Table => token.type === "table");
}

/** Returns the visible text of HTML. */
function shownText(html: string): string {
  return html
    .replace(/<br>/g, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&");
}

describe("a path in a table", () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(..."|`*_[]()<>&#~\\\n\r\"'!@- /{}1.:".split("")) }),
    fc.constantFrom(
      "|",
      "a|b|c",
      "</code>",
      "`|`",
      "<script>alert(1)</script>",
      "\n\n# Approved\n",
      "| | |",
      "@everyone",
      "#1",
    ),
  );

  test("is shown unchanged, whatever it contains, and does not break the table", () => {
    fc.assert(
      fc.property(hostile, hostile, (path, service) => {
        const markdown = review([{ service, changes: markChanges([removed(`/${path}`), removed("/next")]) }]);
        const [table, ...others] = tablesOf(markdown);
        expect(others).toEqual([]);
        expect(table?.rows).toHaveLength(2);
        const cells = table?.rows[0]?.map(({ tokens }) => marked.Parser.parseInline(tokens)) ?? [];
        expect(cells).toHaveLength(5);
        expect(shownText(cells[1] ?? "")).toBe(`GET /${path}`);
        const html = marked.parse(markdown, { async: false });
        const tags = new Set([...html.matchAll(/<\/?([a-z0-9]+)/g)].map(([, tag]) => tag));
        const ours = ["h3", "p", "strong", "code", "br", "table", "thead", "tbody", "tr", "th", "td"];
        expect([...tags].filter((tag) => !ours.includes(tag ?? ""))).toEqual([]);
        // Apart from headings and escapes, no character can start a mention, a link or a heading.
        expect(markdown.replace(/^###|&#\d+;/gm, "")).not.toMatch(/[@[\]#]/);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("a review that is too long for a comment", () => {
  const long = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => removed(`/${"|".repeat(900)}/${from + index}`));

  test.each([
    ["of one service", [2000]],
    ["of many services", Array.from({ length: 200 }, () => 10)],
  ])("%s is shortened to valid Markdown, and says how many changes are missing", (_, sizes) => {
    const services = sizes.map((size, index) => ({
      service: `s${index}`,
      changes: markChanges(long(size)).map((change) => ({ ...change, marks: [] })),
    }));
    const marking = { service: "marked", changes: markChanges([removed("/look-here")]) };
    const markdown = review([...services, marking]);
    expect(markdown.length).toBeLessThan(COMMENT_LENGTH_MAX);
    // Marked changes come first, so the limit never removes them.
    expect(markdown).toContain("/look-here");
    const shown = tablesOf(markdown).reduce((sum, { rows }) => sum + rows.length, 0);
    const missing = Number(/\n(\d+) more changes do not fit into a comment\.\n$/.exec(markdown)?.[1]);
    expect(shown + missing).toBe(2001);
  });
});
