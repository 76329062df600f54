import type { PeerTls } from "../../config/index.ts";
import { observeNothing, type StoreObserver } from "../observer.ts";
import { EtcdRouteStore } from "./etcd.ts";
import type { EtcdEndpointsOptions } from "./etcd-endpoints.ts";
import { MemoryRouteStore } from "./memory.ts";
import type { RouteStore } from "./route-store.ts";

export interface RouteStoreOptions {
  /** The key prefix its user works under, as metrics name it; `edge/gateway/routes` when omitted. */
  namespace?: string;
  observer?: StoreObserver;
  /** The files of TLS, where the URL asks for it. */
  tls?: PeerTls;
}

const DEFAULT_PORT = 2379;
const DEFAULT_NAMESPACE = "edge/gateway/routes";

/**
 * Opens the store that `url` names (contract 1): `http://host:2379`, more endpoints after commas, or
 * `memory://`, which is new and empty. Does not wait for etcd: ask `ping`. Throws `TypeError` for any other URL.
 */
export async function openRouteStore(url: string, options: RouteStoreOptions = {}): Promise<RouteStore> {
  if (url === "memory://") return memoryRouteStore(options);
  const { namespace = DEFAULT_NAMESPACE, observer = observeNothing, tls } = options;
  return new EtcdRouteStore({ ...etcdEndpoints(url), tls }, namespace, observer);
}

/** An empty store in this process, to be shared by those of its services that need one. */
export function memoryRouteStore(options: RouteStoreOptions = {}): RouteStore {
  return new MemoryRouteStore(options.namespace ?? DEFAULT_NAMESPACE, options.observer ?? observeNothing);
}

function etcdEndpoints(list: string): EtcdEndpointsOptions {
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

/** The port that was written, also where it is the scheme's own, which a parsed URL no longer shows; 2379 without. */
function originOf({ protocol, hostname, port }: URL, written: string): string {
  const [, written_port] = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(written) ?? [];
  return `${protocol}//${hostname}:${port || Number(written_port ?? DEFAULT_PORT)}`;
}
