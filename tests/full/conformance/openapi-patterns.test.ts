/** Tests that the patterns in the OpenAPI descriptions mean the same in every client's language (ER-23). */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { objectsIn } from "../../support/http/openapi.ts";
import { servedDocuments } from "./served-descriptions.ts";

const documents = await servedDocuments();
const patterns = [
  ...new Set(
    Object.values(documents)
      .flatMap((document) => objectsIn(document))
      .flatMap(({ value }) => (typeof value.pattern === "string" ? [value.pattern] : [])),
  ),
];

/** Texts that dialects may match differently, such as astral characters, unusual spaces and non-ASCII digits. */
const corpus = [
  ...[
    "",
    " ",
    ..."a A 0 / /a /a?b /a#b".split(" "),
    "a b",
    "a\nb",
    "\n",
    "a\n",
    "\u00a0",
    "\u2028",
    "\ufeff",
  ],
  ...["🚪", "a🚪", "/🚪", "\ud83d", "\udeaa", "a\ud83d", "é", "ſ", "K", "٣", "a٣", "ı", "\u180e", "\u0085"],
  ...[
    "z".repeat(129),
    "/".repeat(1025),
    "\u200b",
    "\u2060",
    "\t",
    "\u000b",
    "\u001c",
    "\u3000a\u3000",
    "\u1680",
  ],
  ..."http://widgets:8080 http://[::1]:80 http://🚪:80 http://a:0 http://-a:1 http://a-.b:1".split(" "),
  ...["http://a b:80", "http://a\u00a0b:80", "01KA4YB0Q9X3M5N7P8R2S6T1VW", "01ka4yb0q9x3m5n7p8r2s6t1vw"],
  ...["81KA4YB0Q9X3M5N7P8R2S6T1VW", "*", '"3"', '"03"', 'W/"3"', '"3", "4"', "owner", "ownerx", "org:write"],
  ...["org write", "Ada Lovelace", " Ada ", "👩‍🚀"],
  ...["\u0000", "a\u0000", "a\u007fb", "日本語", "Zoë", "e\u0301", "\u{10ffff}"],
];

const expected = patterns.map((pattern) => corpus.map((text) => new RegExp(pattern).test(text)));

/** The texts for other languages: only those that UTF-8 can encode. */
const spelled = corpus.filter((text) => text.isWellFormed());
const question = (texts: string[]) => JSON.stringify({ patterns, texts });

/** Returns each pattern and text for which another language differs from JavaScript. */
function differences(matches: boolean[][], texts: string[]): [string | undefined, string][] {
  return matches.flatMap((row, index) =>
    texts.flatMap((text, place): [string | undefined, string][] =>
      row[place] === expected[index]?.[corpus.indexOf(text)] ? [] : [[patterns[index], text]],
    ),
  );
}

async function ask(command: string[], texts: string[]): Promise<boolean[][]> {
  const child = Bun.spawn(command, { stdin: new Blob([question(texts)]), stdout: "pipe", stderr: "pipe" });
  const [output, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(complaint);
  return JSON.parse(output);
}

// ER-23
describe("the patterns of the descriptions", () => {
  test("mean the same in JavaScript with and without the u flag", () => {
    expect(patterns.length).toBeGreaterThan(5);
    const matches = patterns.map((pattern) => corpus.map((text) => new RegExp(pattern, "u").test(text)));
    expect(differences(matches, corpus)).toEqual([]);
  });

  test("use no syntax that RE2 does not support or that differs between dialects", () => {
    // Matches lookaround, character classes whose members differ, escapes of code units, and backreferences.
    const foreign = /\(\?[=!<]|\\[sSwWdDbB]|\\u|\\p|\\k|\\[1-9]/;
    for (const pattern of patterns) expect(pattern.replace("[^\\s\\S]", "")).not.toMatch(foreign);
  });

  test.skipIf(Bun.which("python3") === null)("mean the same in Python", async () => {
    // In Python, $ also matches before a final line end. JavaScript has no equivalent, so omit such texts.
    const texts = spelled.filter((text) => !text.endsWith("\n"));
    const script =
      "import json, re, sys; q = json.load(sys.stdin); print(json.dumps([[re.search(p, t) is not None for t in q['texts']] for p in q['patterns']]))";
    expect(differences(await ask(["python3", "-c", script], texts), texts)).toEqual([]);
  });

  test.skipIf(Bun.which("go") === null)(
    "mean the same in Go",
    async () => {
      const folder = temporaryFolder("patterns");
      const file = join(folder, "main.go");
      await Bun.write(file, GO);
      expect(differences(await ask(["go", "run", file], spelled), spelled)).toEqual([]);
    },
    120_000,
  );
});

const GO = `package main

import (
	"encoding/json"
	"os"
	"regexp"
)

func main() {
	var question struct{ Patterns, Texts []string }
	if err := json.NewDecoder(os.Stdin).Decode(&question); err != nil {
		panic(err)
	}
	matches := [][]bool{}
	for _, pattern := range question.Patterns {
		expression := regexp.MustCompile(pattern)
		row := []bool{}
		for _, text := range question.Texts {
			row = append(row, expression.MatchString(text))
		}
		matches = append(matches, row)
	}
	json.NewEncoder(os.Stdout).Encode(matches)
}
`;

import { temporaryFolder } from "../../support/temporary-folder.ts";
