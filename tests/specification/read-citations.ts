import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../support/root.ts";
import { CLAUSE_ID } from "./clauses.ts";

/** A place in the repository that cites a clause by its number. */
interface Citation {
  readonly id: string;
  readonly path: string;
  readonly line: number;
}

/** A test or group of tests that claims to prove a clause. */
export interface Proof extends Citation {
  readonly test: string;
}

/** Returns the paths of all text files in some folders, including files that are not committed yet. */
export function filesOf(...folders: readonly string[]): string[] {
  const command = ["git", "ls-files", "-co", "--exclude-standard", "--", ...folders];
  const listed = Bun.spawnSync(command, { cwd: ROOT }).stdout.toString();
  return listed
    .split("\n")
    .filter((path) =>
      /\.(tsx?|js|css|md|sql|ya?ml|py|sh|conf|cfg|env|service|timer|target)$|\/[^./]+$/.test(path),
    );
}

/** Reads a file of the repository. Returns an empty text if the file is deleted in the working tree. */
export async function textOf(path: string): Promise<string> {
  const file = Bun.file(join(ROOT, path));
  return (await file.exists()) ? file.text() : "";
}

/** Returns all citations of clauses in a file's text. */
export function citationsIn(path: string, text: string): Citation[] {
  return text.split("\n").flatMap((content, index) => {
    return Array.from(content.matchAll(CLAUSE_ID), ([id]) => ({ id, path, line: index + 1 }));
  });
}

/**
 * Matches a comment that has only clause numbers: `// GW-14, GW-15`. It claims that a test proves these
 * clauses.
 */
const CLAIM = /^\/\/ ((?:[A-Z]{2}-\d+)(?:, [A-Z]{2}-\d+)*)$/;

/** Returns the proofs that a test file claims by comments directly above a test or a group of tests. */
function proofsIn(path: string, text: string): Proof[] {
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

/** Returns the clause numbers in claims directly above a statement. */
function claimedIds(node: ts.Node, text: string): string[] {
  const comments = ts.getLeadingCommentRanges(text, node.pos) ?? [];
  return comments.flatMap(({ pos, end }) => CLAIM.exec(text.slice(pos, end))?.[1]?.split(", ") ?? []);
}

/**
 * Returns the name of a test or group: the first argument of the call, if it is a string. This includes calls
 * of helpers that define a test, such as `check("a name", …)`. Returns null for any other call.
 */
function testName(call: ts.CallExpression, source: ts.SourceFile): string | null {
  const [name] = call.arguments;
  if (name === undefined) return null;
  if (ts.isStringLiteralLike(name)) return name.text;
  return ts.isTemplateExpression(name) ? name.getText(source).slice(1, -1) : null;
}

/**
 * Returns a problem for each claim in a test file that is not directly above a test.
 *
 * @param proofs the proofs in the file, from {@link proofsIn}
 */
export function strayClaims(path: string, text: string, proofs: readonly Proof[]): string[] {
  const proven = new Map<string, number>();
  for (const { id } of proofs) proven.set(id, (proven.get(id) ?? 0) + 1);
  return text.split("\n").flatMap((content, index) => {
    const ids = CLAIM.exec(content.trim())?.[1]?.split(", ") ?? [];
    return ids.flatMap((id) => {
      const left = proven.get(id) ?? 0;
      proven.set(id, left - 1);
      return left > 0 ? [] : [`${path}:${index + 1} ${id} is not directly above a test`];
    });
  });
}

/** Returns the proofs that all test files claim. */
export async function readProofs(): Promise<Proof[]> {
  const files = filesOf("tests").filter((path) => path.endsWith(".ts"));
  const proofs = await Promise.all(files.map(async (path) => proofsIn(path, await textOf(path))));
  return proofs.flat();
}
