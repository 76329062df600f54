import { afterAll, beforeAll } from "bun:test";

/**
 * Starts a resource before the tests of a file and stops the resource after them. Returns a proxy, which the
 * file can use before the start.
 */
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

/** Returns a proxy that passes each access to the object that `find` returns at that time. */
export function standInFor<Running extends object>(find: () => Running | undefined): Running {
  const found = () => {
    const running = find();
    if (running === undefined) throw new Error("Use this object only while the tests of its file run.");
    return running;
  };
  return new Proxy<Running>(Object.create(null), {
    get: (_, name) => Reflect.get(found(), name),
    set: (_, name, value) => Reflect.set(found(), name, value),
  });
}
