/** The factor by which TEST_RUNS multiplies the number of random inputs of each test. The default is 1. */
const TIMES = Number(process.env.TEST_RUNS ?? 1);
if (!(TIMES > 0)) throw new Error("TEST_RUNS must be a number above 0.");

/** Returns the number of random inputs for a test that usually tries `usual` inputs. */
export function runs(usual: number): number {
  return Math.ceil(usual * TIMES);
}
