import { KeyedSemaphore, NoPermit, type Release, Semaphore } from "@ostiary/lib/async";
import { rateLimited } from "@ostiary/lib/domain/errors";

/**
 * The maximum number of test requests of one organization that run at once in one process. An organization with
 * slow hosts takes no place of another organization.
 */
const ORGANIZATION_TEST_CALLS_MAX = 2;
/**
 * The maximum number of test requests of all organizations that run at once in one process. Organizations choose
 * the hosts, so without a limit slow hosts could hold any number of connections open.
 */
const TEST_CALLS_MAX = 100;
const RETRY_AFTER_SECONDS = 10;

/** The refusal of a test request beyond the limits. */
export const tooManyTestCalls = {
  code: "RATE_LIMITED",
  message: "Too many test calls are running. Try again in a moment.",
} as const;

export class TestCalls {
  readonly #ofOrganizations = new KeyedSemaphore(ORGANIZATION_TEST_CALLS_MAX, 0);
  readonly #all = new Semaphore(TEST_CALLS_MAX, 0);

  /**
   * Runs `work` for an organization.
   *
   * @throws ApiError 429 if too many test requests of the organization, or of all organizations, already run
   */
  async run<T>(organization_id: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#acquire(organization_id).catch((error: unknown) => {
      if (!(error instanceof NoPermit)) throw error;
      throw rateLimited(RETRY_AFTER_SECONDS, { message: tooManyTestCalls.message });
    });
    return work().finally(release);
  }

  async #acquire(organization_id: string): Promise<Release> {
    const releaseOwn = await this.#ofOrganizations.acquire(organization_id, 0);
    try {
      const releaseShared = await this.#all.acquire(0);
      return () => {
        releaseShared();
        releaseOwn();
      };
    } catch (error) {
      releaseOwn();
      throw error;
    }
  }
}
