import { readProofs } from "./citations.ts";
import { readClauses } from "./clauses.ts";
import { reviewOnly } from "./review-only.ts";

/** Prints each clause with its tests: `bun run specification`, or `bun run specification GW` for one part. */
const [prefix = ""] = process.argv.slice(2);
const proofs = Map.groupBy(await readProofs(), ({ id }) => id);
const lines = (await readClauses())
  .filter(({ id }) => id.startsWith(prefix))
  .flatMap(({ id, text }) => {
    const tests = (proofs.get(id) ?? []).map(({ path, line, test }) => `    ${path}:${line} ${test}`);
    const reason = reviewOnly[id];
    return [`${id} ${text}`, ...tests, ...(reason === undefined ? [] : [`    by review: ${reason}`]), ""];
  });
process.stdout.write(`${lines.join("\n")}\n`);
