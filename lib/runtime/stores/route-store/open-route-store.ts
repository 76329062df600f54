import type { PeerTls } from "../../config/index.ts";
import { observeNothing, type StoreObserver } from "../observer.ts";
import type { EtcdConnectionOptions } from "./etcd-connection.ts";
import { MemoryRouteStore } from "./memory.ts";
import type { RouteStore } from "./route-store.ts";

interface RouteStoreOptions {
  observer?: StoreObserver;
  tls?: PeerTls;
}

const DEFAULT_PORT = 2379;

/**
 * Opens a route store by a URL that the configuration accepts (OP-11). `memory://` is a new, empty store. Does not wait
 * for etcd; `ping` does.
 */
export async function openRouteStore(url: string, options: RouteStoreOptions = {}): Promise<RouteStore> {
  const { observer = observeNothing, tls } = options;
  if (url === "memory://") return memoryRouteStore(observer);
  // The quick start needs no etcd client, whose packages take as long to load as all others together.
  const { EtcdRouteStore } = await import("./etcd.ts");
  return new EtcdRouteStore({ ...etcdEndpoints(url), tls }, observer);
}

/** Returns an empty store in memory that the services of this process can share. */
export function memoryRouteStore(observer = observeNothing): RouteStore {
  return new MemoryRouteStore(observer);
}

function etcdEndpoints(list: string): EtcdConnectionOptions {
  const endpoints = list.split(",").map((endpoint) => endpoint.trim());
  const withUser = endpoints.map((endpoint) => new URL(endpoint)).find(({ username }) => username !== "");
  return {
    hosts: endpoints.map(originOf),
    ...(withUser !== undefined && {
      auth: {
        username: decodeURIComponent(withUser.username),
        password: decodeURIComponent(withUser.password),
      },
    }),
  };
}

/** A parsed URL omits the default port of its scheme, so the port is read from the original text. */
function originOf(endpoint: string): string {
  const { protocol, hostname, port } = new URL(endpoint);
  const [, writtenPort] = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(endpoint) ?? [];
  return `${protocol}//${hostname}:${port || Number(writtenPort ?? DEFAULT_PORT)}`;
}
