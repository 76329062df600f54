import { citationsIn, citationsWithoutNumber, filesOf, textOf } from "../citations.ts";
import { numberProblems, readClauses, SPECIFICATION } from "../clauses.ts";
import { proseOfComments, proseOfMarkdown, proseOfMessages, proseProblems } from "../prose.ts";

/** The git pathspecs of files whose prose is checked for plain English. */
const PLAIN = [
  SPECIFICATION,
  "*README.md",
  ".github/ARCHITECTURE.md",
  ".github/CHANGELOG.md",
  ".github/CONTRIBUTING.md",
  ".github/ERRORS.md",
  ".github/FAULTS.md",
  ".github/HISTORIES.md",
  ".github/LIMITS.md",
  ".github/PERFORMANCE.md",
  ".github/SECURITY.md",
  ".github/decisions",
  ".github/guides",
  ".github/operations",
  ".github/security",
  "apps",
  "lib/async",
  "lib/contracts",
  "lib/domain/credentials",
  "lib/domain/errors",
  "lib/domain/json",
  "lib/domain/proof",
  "lib/domain/ratelimit",
  "lib/domain/routes",
  "lib/domain/schemas",
  "lib/domain/tlog",
  "lib/edge-description",
  "lib/openapi",
  "lib/runtime",
  "tests",
];

/** Matches paths of files whose messages and descriptions are checked too, not only the comments. */
const SPEAKING = /^(?:apps|lib)\//;

/** The folders in which citations must name an existing clause. */
const CITING = ["apps", "lib", "tests", "drizzle", "seeds", ".github"];

const clauses = await readClauses();
const ids = new Set(clauses.map(({ id }) => id));

const citing = await Promise.all(
  filesOf(...CITING).map(async (path) => ({ path, text: await textOf(path) })),
);
const cited = citing.flatMap(({ path, text }) => citationsIn(path, text));
const unknown = cited
  .filter(({ id }) => !ids.has(id))
  .map(({ id, path, line }) => `${path}:${line} ${id} is not a clause of the specification`);

const prose = await Promise.all(
  filesOf(...PLAIN).map(async (path) => {
    const text = await textOf(path);
    if (path.endsWith(".md")) return proseProblems(path, proseOfMarkdown(text));
    const messages = SPEAKING.test(path) ? proseOfMessages(text) : [];
    return proseProblems(path, [...proseOfComments(text), ...messages]);
  }),
);

const withoutNumber = citing.flatMap(({ path, text }) => citationsWithoutNumber(path, text));
const problems = [...numberProblems(clauses), ...unknown, ...withoutNumber, ...prose.flat()];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exit(1);
process.stdout.write(`Checked ${clauses.length} clauses and ${cited.length} citations.\n`);
