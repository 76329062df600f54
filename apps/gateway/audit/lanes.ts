/** Runs work, at most `count` pieces at a time, the others in the order in which they came. */
export type Lanes = <T>(work: () => Promise<T>) => Promise<T>;

export function createLanes(count: number): Lanes {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
