import { NoPermit, Semaphore } from "@ostiary/lib/async";
import { rateLimited } from "@ostiary/lib/domain/errors";

/**
 * The maximum number of test requests that run at once in one process. Organizations choose the hosts, so
 * without a limit slow hosts could hold many connections open.
 */
const TEST_CALLS_MAX = 10;
const RETRY_AFTER_SECONDS = 10;

/** The refusal of a test request beyond {@link TEST_CALLS_MAX}. */
export const tooManyTestCalls = {
  code: "RATE_LIMITED",
  message: "Too many test calls are running. Try again in a moment.",
} as const;

/** The test requests of this process. */
export class TestCalls {
  readonly #permits = new Semaphore(TEST_CALLS_MAX, 0);

  /**
   * Runs `work`.
   *
   * @throws ApiError 429 if {@link TEST_CALLS_MAX} test requests already run
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#permits.run(work);
    } catch (error) {
      if (!(error instanceof NoPermit)) throw error;
      throw rateLimited(RETRY_AFTER_SECONDS, { message: tooManyTestCalls.message });
    }
  }
}
