import { BenchImpossible } from "./cores.ts";

/** Reads the number that a bench takes as its second word, such as of events. */
export function countOf(bench: string, things: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new BenchImpossible(`${bench} takes a whole number of ${things} above 0, not "${given}".`);
}
