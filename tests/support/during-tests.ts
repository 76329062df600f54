import { afterAll, beforeAll } from "bun:test";

/** Starts something before the tests of a file and stops it after them. Returns a stand-in for what runs. */
export function duringTests<Running extends object>(
  start: () => Promise<Running>,
  stop: (running: Running) => unknown,
): Running {
  let running: Running | undefined;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(async () => {
    if (running !== undefined) await stop(running);
  });
  return new Proxy<Running>(Object.create(null), {
    get(_, name) {
      if (running === undefined) throw new Error("It runs only while the tests of this file do.");
      return Reflect.get(running, name);
    },
  });
}
