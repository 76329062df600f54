/**
 * Prints each clause of the specification with the tests that prove it: `bun run specification`. A prefix as
 * in `bun run specification GW` prints the clauses of one file.
 */

import { readClauses } from "./clauses.ts";
import { readProofs } from "./read-citations.ts";

const [prefix = ""] = process.argv.slice(2);
const proofs = Map.groupBy(await readProofs(), ({ id }) => id);
const lines = (await readClauses())
  .filter(({ id }) => id.startsWith(prefix))
  .flatMap(({ id, text }) => {
    const tests = (proofs.get(id) ?? []).map(({ path, line, test }) => `    ${path}:${line} ${test}`);
    return [`${id} ${text}`, ...tests, ""];
  });
process.stdout.write(`${lines.join("\n")}\n`);
