import { afterAll, beforeAll } from "bun:test";
import { type Registry, startRegistry } from "./harness.ts";

/** Starts one registry in this process, for all tests of a file. */
export function useRegistry(): Registry {
  let running: Registry | undefined;
  const registry = () => {
    if (running === undefined) throw new Error("The registry runs while tests do.");
    return running;
  };
  beforeAll(async () => {
    running = await startRegistry();
  });
  afterAll(() => running?.stop());
  return {
    get url() {
      return registry().url;
    },
    get internal_url() {
      return registry().internal_url;
    },
    get database_url() {
      return registry().database_url;
    },
    get routeStore() {
      return registry().routeStore;
    },
    call: (...request) => registry().call(...request),
    apply: (services) => registry().apply(services),
    put: (...request) => registry().put(...request),
    stop: () => registry().stop(),
  };
}
