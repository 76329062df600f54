import { type PeerTls, renewingOptions } from "../../config/index.ts";
import { observeNothing, type StoreObserver } from "../observer.ts";
import type { CounterStore } from "./counter-store.ts";
import { MemoryCounterStore } from "./memory.ts";
import { type ClusterNodes, connectCluster, connectRedis, RedisCounterStore } from "./redis.ts";

export { MemoryCounterStore } from "./memory.ts";

interface CounterStoreOptions {
  observer?: StoreObserver;
  tls?: PeerTls;
}

const CLUSTER = /^redis(s?)\+cluster:\/\//;

/**
 * Opens a counter store by a URL that the configuration accepts (OP-11). Waits up to two seconds for a connection, then
 * keeps trying. Rejects with `StoreUnavailable` if the server permanently refuses the URL, for example its password.
 */
export async function openCounterStore(
  url: string,
  options: CounterStoreOptions = {},
): Promise<CounterStore> {
  const { observer = observeNothing, tls } = options;
  if (url === "memory://") return new MemoryCounterStore(observer);
  const client = CLUSTER.test(url) ? connectCluster(clusterNodes(url, tls)) : connectRedis(url, tls);
  const store = new RedisCounterStore(client, observer);
  try {
    await store.connected();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Parses `redis+cluster://user:password@a:6379,b:6379`. Every node gets the same user. */
function clusterNodes(url: string, tls: PeerTls | undefined): ClusterNodes {
  const [scheme = "", s] = CLUSTER.exec(url) ?? [];
  const rest = url.slice(scheme.length);
  const at = rest.lastIndexOf("@");
  const list = rest.slice(at + 1).split(",");
  const user = at < 0 ? "" : `${rest.slice(0, at)}@`;
  const parsed = list.map((host) => new URL(`redis://${user}${host.trim()}`));
  const [first] = parsed;
  return {
    hosts: parsed.map(({ hostname, port }) => ({ host: hostname, port: Number(port || 6379) })),
    ...(s === "s" && { tls: tls === undefined ? {} : renewingOptions(tls) }),
    ...(first?.username ? { username: decodeURIComponent(first.username) } : {}),
    ...(first?.password ? { password: decodeURIComponent(first.password) } : {}),
  };
}
