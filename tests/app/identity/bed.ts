import { duringTests } from "../../support/during-tests.ts";
import { type HarnessOptions, type IdentityHarness, startIdentity } from "./harness.ts";

/** Starts one identity service for all tests of a file or `describe`. */
export function useIdentity(options?: HarnessOptions): IdentityHarness {
  return duringTests(() => startIdentity(options));
}
