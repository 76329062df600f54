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
  return standInFor(() => running);
}

/** Returns a stand-in for what runs at the time of use. */
export function standInFor<Running extends object>(find: () => Running | undefined): Running {
  const found = () => {
    const running = find();
    if (running === undefined) throw new Error("It runs only while the tests of this file do.");
    return running;
  };
  return new Proxy<Running>(Object.create(null), {
    get: (_, name) => Reflect.get(found(), name),
    set: (_, name, value) => Reflect.set(found(), name, value),
  });
}
