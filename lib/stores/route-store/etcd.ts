import { ConstantBackoff, handleWhen, noop, retry } from "cockatiel";
import { Etcd3, type IKeyValue, type IRequestOp, isRecoverableError, Range } from "etcd3";
import { withDeadline } from "../deadline.ts";
import { observed } from "../observed.ts";
import type { StoreObserver } from "../observer.ts";
import { EtcdWatch } from "./etcd-watch.ts";
import { isCompacted, routeStoreFailure } from "./failure.ts";
import type { FencedWrite, RouteEntry, RouteStore, RouteWatch } from "./route-store.ts";

const CALL_TIMEOUT_MS = 2_000;
const PAGE_TIMEOUT_MS = 5_000;
/** A value may be 1 MiB (etcd takes 1.5 MiB at most), and a page must fit into one message. */
const PAGE_KEYS = 64;
const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;
/** How often a listing starts anew because the revision it was reading had been compacted meanwhile. */
const LIST_ATTEMPTS = 3;
const RECONNECT_MS = 500;
/** etcd ends connections that ping more often than every 5 s. */
const KEEPALIVE_MS = 8_000;
const KEEPALIVE_TIMEOUT_MS = 4_000;
/** Digits of the largest safe integer: padded to this width, numbers compare as etcd compares values, bytewise. */
const FENCE_DIGITS = 16;

/** etcd by etcd3. Reads are linearizable. */
export class EtcdRouteStore implements RouteStore {
  readonly #client: Etcd3;
  readonly #namespace: string;
  readonly #observer: StoreObserver;
  readonly #watches = new Set<EtcdWatch>();

  constructor(endpoints: EtcdEndpoints, namespace: string, observer: StoreObserver) {
    this.#client = connect(endpoints);
    this.#namespace = namespace;
    this.#observer = observer;
  }

  get(key: string): Promise<RouteEntry | null> {
    return this.#call("get", CALL_TIMEOUT_MS, async (deadline) => {
      const { kvs } = await this.#client.kv.range({ key: Buffer.from(key) }, { deadline });
      const [entry] = kvs;
      return entry ? entryOf(entry) : null;
    });
  }

  list(prefix: string): Promise<RouteEntry[]> {
    return this.#observed("list", async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#listAtOneRevision(prefix);
        } catch (error) {
          if (!isCompacted(error) || attempt === LIST_ATTEMPTS) throw routeStoreFailure(error);
        }
      }
    });
  }

  async put(key: string, value: string): Promise<void> {
    await this.#call("put", CALL_TIMEOUT_MS, (deadline) =>
      this.#client.kv.put({ key: Buffer.from(key), value: Buffer.from(value) }, { deadline }),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#call("delete", CALL_TIMEOUT_MS, (deadline) =>
      this.#client.kv.deleteRange({ key: Buffer.from(key) }, { deadline }),
    );
  }

  /**
   * The comparison asks whether the recorded number is greater, and the write is what follows when it is not:
   * for etcd a comparison with the value of a missing key is never true.
   */
  writeFenced({ key, value, fence }: FencedWrite): Promise<boolean> {
    const fenceKey = Buffer.from(fence.key);
    const fenceValue = Buffer.from(String(fence.value).padStart(FENCE_DIGITS, "0"));
    const write: IRequestOp =
      value === null
        ? { request_delete_range: { key: Buffer.from(key) } }
        : { request_put: { key: Buffer.from(key), value: Buffer.from(value) } };
    return this.#call("write_fenced", CALL_TIMEOUT_MS, async (deadline) => {
      const { succeeded: stale } = await this.#client.kv.txn(
        {
          compare: [{ key: fenceKey, target: "Value", result: "Greater", value: fenceValue }],
          success: [],
          failure: [write, { request_put: { key: fenceKey, value: fenceValue } }],
        },
        { deadline },
      );
      return !stale;
    });
  }

  async watch(prefix: string, onChange: () => void): Promise<RouteWatch> {
    const watch = new EtcdWatch(this.#client, prefix, onChange);
    this.#watches.add(watch);
    const close = async () => {
      this.#watches.delete(watch);
      await watch.close();
    };
    try {
      await withDeadline("route_store", watch.established, CALL_TIMEOUT_MS);
      return { close };
    } catch (error) {
      void close();
      throw error;
    }
  }

  async ping(timeout_ms: number): Promise<void> {
    await this.#call("ping", timeout_ms, (deadline) =>
      this.#client.kv.range({ key: Buffer.from("ping"), keys_only: true }, { deadline }),
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watches].map((watch) => watch.close()));
    this.#watches.clear();
    this.#client.close();
  }

  async #listAtOneRevision(prefix: string): Promise<RouteEntry[]> {
    const range = Range.prefix(prefix);
    const entries: RouteEntry[] = [];
    let key = Buffer.from(range.start);
    let revision: string | undefined;
    for (;;) {
      const request = { key, range_end: Buffer.from(range.end), limit: PAGE_KEYS, revision };
      const deadline = Date.now() + PAGE_TIMEOUT_MS;
      const page = await withDeadline(
        "route_store",
        this.#client.kv.range(request, { deadline }),
        PAGE_TIMEOUT_MS,
      );
      for (const pair of page.kvs) entries.push(entryOf(pair));
      const last = page.kvs.at(-1);
      if (!page.more || last === undefined) return entries;
      key = Buffer.concat([last.key, Buffer.from([0])]);
      revision ??= page.header.revision;
    }
  }

  #call<T>(operation: string, timeout_ms: number, call: (deadline: number) => Promise<T>): Promise<T> {
    return this.#observed(operation, async () => {
      try {
        return await withDeadline("route_store", call(Date.now() + timeout_ms), timeout_ms);
      } catch (error) {
        throw routeStoreFailure(error);
      }
    });
  }

  #observed<T>(operation: string, work: () => Promise<T>): Promise<T> {
    return observed(this.#observer, { system: "etcd", operation, namespace: this.#namespace }, work);
  }
}

export interface EtcdEndpoints {
  /** Origins such as `http://localhost:2379`. */
  hosts: string[];
  auth?: { username: string; password: string };
}

/**
 * The library's circuit breaker is off: it would go on refusing for five seconds after etcd came back. A call
 * that one endpoint cannot serve is tried on the others, within the call's own deadline.
 */
function connect({ hosts, auth }: EtcdEndpoints): Etcd3 {
  const others = hosts.length - 1;
  return new Etcd3({
    hosts,
    ...(auth ? { auth } : {}),
    faultHandling: {
      host: () => noop,
      global:
        others === 0
          ? noop
          : retry(handleWhen(isRecoverableError), { maxAttempts: others, backoff: new ConstantBackoff(0) }),
      watchBackoff: new ConstantBackoff(RECONNECT_MS).next(),
    },
    grpcOptions: {
      "grpc.keepalive_time_ms": KEEPALIVE_MS,
      "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
      "grpc.keepalive_permit_without_calls": 1,
      "grpc.initial_reconnect_backoff_ms": RECONNECT_MS / 2,
      "grpc.max_reconnect_backoff_ms": RECONNECT_MS,
      "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    },
  });
}

function entryOf(pair: IKeyValue): RouteEntry {
  return { key: pair.key.toString(), value: pair.value.toString() };
}
