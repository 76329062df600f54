/** How many times the usual number of random inputs tests try, from TEST_RUNS: 1 unless it says more. */
const TIMES = Number(process.env.TEST_RUNS ?? 1);
if (!(TIMES > 0)) throw new Error("TEST_RUNS takes a number above 0.");

/** Returns the number of random inputs that a test tries. */
export function runs(usual: number): number {
  return Math.ceil(usual * TIMES);
}
