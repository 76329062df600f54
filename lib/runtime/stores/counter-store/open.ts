import { observeNothing, type StoreObserver } from "../observer.ts";
import type { CounterStore } from "./counter-store.ts";
import { MemoryCounterStore } from "./memory.ts";
import {
  type ClusterNodes,
  connectCluster,
  connectRedis,
  type RedisClient,
  RedisCounterStore,
} from "./redis.ts";

export { MemoryCounterStore } from "./memory.ts";

export const COUNTERS_NAMESPACE = "rate_limits";

export interface CounterStoreOptions {
  /** What metrics call the counters; {@link COUNTERS_NAMESPACE} when omitted. */
  namespace?: string;
  observer?: StoreObserver;
}

const CLUSTER = "redis+cluster://";

/**
 * Opens the store that `url` names (contract 1): `redis://…`, `rediss://…`, `redis+cluster://a:6379,b:6379` or
 * `memory://`. Waits for a server at most 500 ms, and then leaves connecting to the background: until it
 * answers, counts are rejected. Rejects with `StoreUnavailable` when the server refuses this URL for good, such as
 * its password. Throws `TypeError` for any other URL.
 */
export async function openCounterStore(
  url: string,
  options: CounterStoreOptions = {},
): Promise<CounterStore> {
  const { namespace = COUNTERS_NAMESPACE, observer = observeNothing } = options;
  if (url === "memory://") return new MemoryCounterStore(namespace, observer);
  const store = new RedisCounterStore(connect(url), namespace, observer);
  try {
    await store.connected();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

function connect(url: string): RedisClient {
  if (url.startsWith(CLUSTER)) return connectCluster(clusterNodes(url));
  if (/^rediss?:\/\//.test(url) && URL.canParse(url)) return connectRedis(url);
  throw new TypeError(
    "A counter store URL begins with redis://, rediss://, redis+cluster:// or is memory://",
  );
}

/** `redis+cluster://user:password@a:6379,b:6379`: the credentials are those of every node. */
function clusterNodes(url: string): ClusterNodes {
  const rest = url.slice(CLUSTER.length);
  const at = rest.lastIndexOf("@");
  const list = rest.slice(at + 1).split(",");
  const user = at < 0 ? "" : `${rest.slice(0, at)}@`;
  const urls = list.map((host) => `redis://${user}${host.trim()}`);
  if (!urls.every((node) => URL.canParse(node) && new URL(node).hostname !== "")) {
    throw new TypeError("A cluster URL lists its nodes: redis+cluster://host:6379,host:6379");
  }
  const parsed = urls.map((node) => new URL(node));
  const [first] = parsed;
  return {
    hosts: parsed.map(({ hostname, port }) => ({ host: hostname, port: Number(port || 6379) })),
    ...(first?.username ? { username: decodeURIComponent(first.username) } : {}),
    ...(first?.password ? { password: decodeURIComponent(first.password) } : {}),
  };
}
