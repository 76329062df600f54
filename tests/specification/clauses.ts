import { join } from "node:path";
import { ROOT } from "../support/root.ts";

/** The folder of the specification. Like all paths in this folder's code, it is relative to the root. */
const SPECIFICATION = ".github/specification";

/** One numbered rule of the specification. */
export interface Clause {
  readonly id: string;
  readonly text: string;
  readonly path: string;
  readonly line: number;
}

/** The prefix of the clause numbers in each file of the specification, by file name. */
const PREFIXES: Readonly<Record<string, string>> = {
  gateway: "GW",
  registry: "RG",
  identity: "ID",
  audit: "AU",
  errors: "ER",
  operation: "OP",
  portal: "PT",
  client: "CL",
};

/** Matches each clause number in a text. */
export const CLAUSE_ID = /(?<![\w-])(?:GW|RG|ID|AU|ER|OP|PT|CL)-\d+\b/g;

const CLAUSE = /^\*\*([A-Z]+-\d+)\*\* (.+)$/s;

/** Returns the clauses in a file's text. A clause is a paragraph that starts with its number in bold. */
function clausesIn(path: string, text: string): Clause[] {
  const clauses: Clause[] = [];
  let line = 1;
  for (const paragraph of text.split("\n\n")) {
    const [, id, rule] = CLAUSE.exec(paragraph.trim()) ?? [];
    if (id !== undefined && rule !== undefined) {
      clauses.push({ id, text: rule.replaceAll(/\s+/g, " "), path, line });
    }
    line += paragraph.split("\n").length + 1;
  }
  return clauses;
}

/** Returns a problem for each clause number that has the prefix of another file, or that is used twice. */
export function numberProblems(clauses: readonly Clause[]): string[] {
  const known = new Set<string>();
  return clauses.flatMap(({ id, path, line }) => {
    const file = path.slice(path.lastIndexOf("/") + 1, -".md".length);
    const isForeign = PREFIXES[file] !== id.split("-")[0];
    const isTaken = known.has(id);
    known.add(id);
    return [
      ...(isForeign ? [`${path}:${line} ${id} has the prefix of another file`] : []),
      ...(isTaken ? [`${path}:${line} ${id} is the number of an earlier clause`] : []),
    ];
  });
}

/** Returns all clauses of the specification, in the order of {@link PREFIXES} and of the files' texts. */
export async function readClauses(): Promise<Clause[]> {
  const files = Object.keys(PREFIXES).map((name) => `${SPECIFICATION}/${name}.md`);
  const clauses = await Promise.all(
    files.map(async (path) => clausesIn(path, await Bun.file(join(ROOT, path)).text())),
  );
  return clauses.flat();
}
