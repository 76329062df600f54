import { systemClock } from "@ostiary/lib/async";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { Instance } from "../../../apps/gateway/instance.ts";
import { PublishedRoutes } from "../../../apps/gateway/published-routes.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** The part of a gateway that loads routes and reports them in the route store. */
export interface LoadingGateway extends AsyncDisposable {
  readonly id: string;
  /** Delays the loading of changes until `goOn`. */
  holdUp(): void;
  goOn(): void;
  serves(path: string): boolean;
  stop(): Promise<void>;
}

export async function startLoadingGateway(store: RouteStore): Promise<LoadingGateway> {
  let held = Promise.resolve();
  let goOn = () => {};
  const instance = new Instance(store, silent, systemClock);
  const watched: RouteStore = {
    ...forwarding(store),
    watch: (prefix, listener) =>
      store.watch(prefix, {
        ...listener,
        changed: (changes) => void held.then(() => listener.changed(changes)),
      }),
  };
  const routes = new PublishedRoutes(watched, silent, systemClock, (loaded) => instance.report(loaded));
  await routes.start();
  const stop = async () => {
    goOn();
    await routes.stop();
    await instance.release();
  };
  return {
    id: instance.id,
    holdUp() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      goOn = resolve;
    },
    goOn: () => goOn(),
    serves: (path) => routes.table.routes.some((route) => route.path === path),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Returns an object that forwards each call to `store`. A test can replace its methods. */
export function forwarding(store: RouteStore): RouteStore {
  return {
    get: (key) => store.get(key),
    list: (prefix) => store.list(prefix),
    summarize: (prefix) => store.summarize(prefix),
    put: (key, value) => store.put(key, value),
    delete: (key) => store.delete(key),
    writeFenced: (write) => store.writeFenced(write),
    watch: (prefix, listener) => store.watch(prefix, listener),
    lease: (key, options) => store.lease(key, options),
    ping: (timeoutMs) => store.ping(timeoutMs),
    close: () => store.close(),
  };
}
