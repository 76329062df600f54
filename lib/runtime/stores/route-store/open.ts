import type { PeerTls } from "../../config/index.ts";
import { observeNothing, type StoreObserver } from "../observer.ts";
import type { EtcdConnectionOptions } from "./etcd-connection.ts";
import { MemoryRouteStore } from "./memory.ts";
import type { RouteStore } from "./route-store.ts";

interface RouteStoreOptions {
  /** The key prefix that the caller works with. Default: `edge/gateway/routes`. */
  namespace?: string;
  observer?: StoreObserver;
  tls?: PeerTls;
}

const DEFAULT_PORT = 2379;
const DEFAULT_NAMESPACE = "edge/gateway/routes";

/**
 * Opens endpoints such as `http://host:2379`, separated by commas, or `memory://` for a new, empty store (OP-11). Does
 * not wait for etcd; `ping` does. Rejects with `TypeError` for any other URL.
 */
export async function openRouteStore(url: string, options: RouteStoreOptions = {}): Promise<RouteStore> {
  if (url === "memory://") return memoryRouteStore(options);
  const { namespace = DEFAULT_NAMESPACE, observer = observeNothing, tls } = options;
  // The quick start needs no etcd client, whose packages take as long to load as all others together.
  const { EtcdRouteStore } = await import("./etcd.ts");
  return new EtcdRouteStore({ ...etcdEndpoints(url), tls }, namespace, observer);
}

/** Returns an empty store in memory that the services of this process can share. */
export function memoryRouteStore(options: RouteStoreOptions = {}): RouteStore {
  return new MemoryRouteStore(options.namespace ?? DEFAULT_NAMESPACE, options.observer ?? observeNothing);
}

function etcdEndpoints(list: string): EtcdConnectionOptions {
  const urls = list.split(",").map((endpoint) => endpoint.trim());
  if (!urls.every((endpoint) => URL.canParse(endpoint) && /^https?:\/\//.test(endpoint))) {
    throw new TypeError("A route store URL is memory:// or a list of http:// or https:// endpoints");
  }
  const parsed = urls.map((endpoint) => new URL(endpoint));
  const hosts = parsed.map((endpoint, index) => originOf(endpoint, urls[index] ?? ""));
  const withUser = parsed.find((endpoint) => endpoint.username !== "");
  if (withUser === undefined) return { hosts };
  return {
    hosts,
    auth: {
      username: decodeURIComponent(withUser.username),
      password: decodeURIComponent(withUser.password),
    },
  };
}

/** A parsed URL omits the default port of its scheme, so the port is read from the original text. */
function originOf({ protocol, hostname, port }: URL, written: string): string {
  const [, writtenPort] = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(written) ?? [];
  return `${protocol}//${hostname}:${port || Number(writtenPort ?? DEFAULT_PORT)}`;
}
