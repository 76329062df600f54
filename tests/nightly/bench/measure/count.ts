import { BenchImpossible } from "./cores.ts";

/**
 * Parses a bench's optional argument, which is a number of `things`. Returns undefined if there is no
 * argument.
 *
 * @throws BenchImpossible if the argument is not a positive integer
 */
export function countOf(bench: string, things: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new BenchImpossible(`${bench}: the number of ${things} must be a positive integer, not "${given}".`);
}
