import { duringTests } from "../../support/during-tests.ts";
import { type GivenToRegistry, type Registry, startRegistry } from "./harness.ts";

/** Starts one registry in this process for all tests of a file or `describe`. */
export function useRegistry(given?: GivenToRegistry): Registry {
  return duringTests(() => startRegistry(given));
}
