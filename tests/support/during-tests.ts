import { afterAll, beforeAll } from "bun:test";

/** A resource that one of these methods ends. */
interface Endable {
  [Symbol.asyncDispose]?(): PromiseLike<unknown>;
  close?(): unknown;
  stop?(): unknown;
}

/**
 * Starts a resource before the tests of a file or `describe`, and ends the resource after them. Returns a
 * proxy that exists before the start, but can be used only while these tests run.
 */
export function duringTests<Running extends Endable>(
  start: () => Promise<Running>,
  timeoutMs?: number,
): Running {
  let running: Running | undefined;
  beforeAll(async () => {
    running = await start();
  }, timeoutMs);
  afterAll(async () => {
    await (running?.[Symbol.asyncDispose] ?? running?.close ?? running?.stop)?.call(running);
  });
  return standInFor(() => running);
}

/** Returns a proxy that passes each access to the object that `find` returns at the time of the access. */
export function standInFor<Running extends object>(find: () => Running | undefined): Running {
  const found = () => {
    const running = find();
    if (running === undefined) throw new Error("Use this object only while the tests of its file run.");
    return running;
  };
  return new Proxy<Running>(Object.create(null), {
    get(_, name) {
      const value = Reflect.get(found(), name);
      return typeof value === "function" ? value.bind(found()) : value;
    },
    set: (_, name, value) => Reflect.set(found(), name, value),
  });
}

/** Makes a resource disposable by its `close`. */
export function closing<Resource extends { close(): Promise<void> }>(
  resource: Resource,
): Resource & AsyncDisposable {
  return Object.assign(resource, { [Symbol.asyncDispose]: () => resource.close() });
}
