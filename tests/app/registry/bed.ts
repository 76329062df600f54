import { duringTests } from "../../support/during-tests.ts";
import { type Registry, startRegistry } from "./harness.ts";

/** Starts one registry in this process for all tests of a file. */
export function useRegistry(): Registry {
  return duringTests(startRegistry, (registry) => registry.stop());
}
