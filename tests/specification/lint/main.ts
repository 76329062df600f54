import { numberProblems, readClauses } from "../clauses.ts";
import {
  brokenCodeProblems,
  proseOfComments,
  proseOfMarkdown,
  proseOfMessages,
  proseProblems,
} from "../prose.ts";
import { citationsIn, filesOf, textOf } from "../read-citations.ts";

/** Matches paths of files whose prose is not checked: released migrations, which never change. */
const RELEASED = /^drizzle\//;

/** Matches paths of files whose strings are checked too, not only the comments. */
const SPEAKING = /^(?:apps|lib)\/.+\.tsx?$/;

const clauses = await readClauses();
const ids = new Set(clauses.map(({ id }) => id));

const files = await Promise.all(filesOf(".").map(async (path) => ({ path, text: await textOf(path) })));
const cited = files.flatMap(({ path, text }) => citationsIn(path, text));
const unknown = cited
  .filter(({ id }) => !ids.has(id))
  .map(({ id, path, line }) => `${path}:${line} ${id} is not a clause of the specification`);

const prose = files.flatMap(({ path, text }) => {
  if (RELEASED.test(path)) return [];
  if (path.endsWith(".md")) {
    return [...proseProblems(path, proseOfMarkdown(text)), ...brokenCodeProblems(path, text)];
  }
  const messages = SPEAKING.test(path) ? proseOfMessages(path, text) : [];
  return proseProblems(path, [...proseOfComments(path, text), ...messages]);
});

const problems = [...numberProblems(clauses), ...unknown, ...prose];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exit(1);
process.stdout.write(`Checked ${clauses.length} clauses and ${cited.length} citations.\n`);
