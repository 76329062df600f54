import { type Static, Type } from "@sinclair/typebox";

export const Spread = Type.Object({ median: Type.Number(), min: Type.Number(), max: Type.Number() });
/** The median of repeated measurements, with their range. */
export type Spread = Readonly<Static<typeof Spread>>;

/**
 * Returns the median and the range of some values.
 *
 * @throws RangeError if there are no values
 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1];
  const high = sorted[Math.floor(middle)];
  const min = sorted[0];
  const max = sorted.at(-1);
  if (low === undefined || high === undefined || min === undefined || max === undefined) {
    throw new RangeError("The median of no values is undefined.");
  }
  return { median: (low + high) / 2, min, max };
}

/** Returns the spread of `a[i] / b[i]`. A slowdown that affects both values of a pair cancels out. */
export function ratiosOf(a: readonly number[], b: readonly number[]): Spread {
  return spreadOf(a.map((value, index) => value / (b[index] ?? Number.NaN)));
}

/** Returns the percentile of the values (nearest-rank method). */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN;
}
