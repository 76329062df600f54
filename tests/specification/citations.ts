import { join } from "node:path";
import ts from "typescript";
import { CLAUSE_ID, ROOT } from "./clauses.ts";

/** The number of a clause in a file of the repository. */
export interface Citation {
  readonly id: string;
  readonly path: string;
  readonly line: number;
}

/** A test, or a group of tests, that proves a clause. */
export interface Proof extends Citation {
  readonly test: string;
}

/** Lists the files of some folders, also files that are not committed yet. */
export function filesOf(...folders: readonly string[]): string[] {
  const command = ["git", "ls-files", "-co", "--exclude-standard", "--", ...folders];
  const listed = Bun.spawnSync(command, { cwd: ROOT }).stdout.toString();
  return listed.split("\n").filter((path) => /\.(tsx?|js|css|md|sql|ya?ml|py|sh|conf|cfg)$/.test(path));
}

/** Reads the text of a file of the repository; a file that was deleted has none. */
export async function textOf(path: string): Promise<string> {
  const file = Bun.file(join(ROOT, path));
  return (await file.exists()) ? file.text() : "";
}

/** Returns every citation in a text. */
export function citationsIn(path: string, text: string): Citation[] {
  return text.split("\n").flatMap((content, index) => {
    return Array.from(content.matchAll(CLAUSE_ID), ([id]) => ({ id, path, line: index + 1 }));
  });
}

/** Words that cite a rule by anything but its number. */
const WITHOUT_NUMBER = /\b(?:contract \d+|(?:gateway|identity) specification)\b/i;

/** Returns the lines that cite a rule without the number of a clause, which nobody could follow or check. */
export function citationsWithoutNumber(path: string, text: string): string[] {
  return text.split("\n").flatMap((content, index) => {
    const [words] = WITHOUT_NUMBER.exec(content) ?? [];
    return words === undefined ? [] : [`${path}:${index + 1} "${words}": cite the number of a clause`];
  });
}

/** A comment that consists of numbers alone: `// GW-14, GW-15`. It claims a proof. */
const CLAIM = /^\/\/ ((?:[A-Z]{2}-\d+)(?:, [A-Z]{2}-\d+)*)$/;

/** Returns the proofs that a test file claims. A claim stands directly above a test or a group. */
export function proofsIn(path: string, text: string): Proof[] {
  if (!/^\s*\/\/ [A-Z]{2}-\d/m.test(text)) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const proofs: Proof[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
      const name = testName(node.expression, source);
      for (const id of name === null ? [] : claimedIds(node, text)) {
        const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
        proofs.push({ id, path, line, test: name ?? "" });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return proofs;
}

/** Returns the numbers that the comments directly above a statement claim. */
function claimedIds(node: ts.Node, text: string): string[] {
  const comments = ts.getLeadingCommentRanges(text, node.pos) ?? [];
  return comments.flatMap(({ pos, end }) => CLAIM.exec(text.slice(pos, end))?.[1]?.split(", ") ?? []);
}

/**
 * Returns the name of a test or group: the first argument of the call, when it is a text. A helper that makes a test
 * from a name, as `check("a name", …)`, counts too. Null for any other call.
 */
function testName(call: ts.CallExpression, source: ts.SourceFile): string | null {
  const [name] = call.arguments;
  if (name === undefined) return null;
  if (ts.isStringLiteralLike(name)) return name.text;
  return ts.isTemplateExpression(name) ? name.getText(source).slice(1, -1) : null;
}

/** Returns the claims of a test file that stand above no test. `proofs` are those of the file. */
export function strayClaims(path: string, text: string, proofs: readonly Proof[]): string[] {
  const proven = new Map<string, number>();
  for (const { id } of proofs) proven.set(id, (proven.get(id) ?? 0) + 1);
  return text.split("\n").flatMap((content, index) => {
    const ids = CLAIM.exec(content.trim())?.[1]?.split(", ") ?? [];
    return ids.flatMap((id) => {
      const left = proven.get(id) ?? 0;
      proven.set(id, left - 1);
      return left > 0 ? [] : [`${path}:${index + 1} ${id} stands above no test`];
    });
  });
}

/** Reads every proof that the tests claim. */
export async function readProofs(): Promise<Proof[]> {
  const files = filesOf("tests").filter((path) => path.endsWith(".ts"));
  const proofs = await Promise.all(files.map(async (path) => proofsIn(path, await textOf(path))));
  return proofs.flat();
}
