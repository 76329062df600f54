import { citationsIn, filesOf, textOf } from "../citations.ts";
import { numberProblems, readClauses } from "../clauses.ts";

const clauses = await readClauses();
const ids = new Set(clauses.map(({ id }) => id));

const files = await Promise.all(filesOf(".").map(async (path) => ({ path, text: await textOf(path) })));
const cited = files.flatMap(({ path, text }) => citationsIn(path, text));
const unknown = cited
  .filter(({ id }) => !ids.has(id))
  .map(({ id, path, line }) => `${path}:${line} ${id} is not a clause of the specification`);

const problems = [...numberProblems(clauses), ...unknown];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exit(1);
process.stdout.write(`Checked ${clauses.length} clauses and ${cited.length} citations.\n`);
