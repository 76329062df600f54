import {
  ClientClosedError,
  ClientRuntimeError,
  EtcdError,
  EtcdPermissionDeniedError,
  GRPCGenericError,
  GRPCInvalidArgumentError,
  type IKeyValue,
  type IRangeRequest,
  type IRequestOp,
  Range,
} from "etcd3";
import { withDeadline } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";
import { observed, ROUTE_STORE_NAMESPACE, type StoreObserver } from "../observer.ts";
import { readNothing } from "./etcd-client.ts";
import {
  type CallOptions,
  type EtcdCall,
  EtcdConnection,
  type EtcdConnectionOptions,
} from "./etcd-connection.ts";
import { EtcdLease } from "./etcd-lease.ts";
import { EtcdWatch } from "./etcd-watch.ts";
import type {
  FencedWrite,
  LeaseOptions,
  RouteEntry,
  RouteLease,
  RouteListener,
  RouteListing,
  RouteStore,
  RouteSummary,
  RouteWatch,
} from "./route-store.ts";

const WATCH_READ_MS = 1_500;
const WATCH_MS = 5_000;
/** The keys in a page. A value can have 1 MiB (etcd's limit is 1.5 MiB), and a page must fit into one gRPC message. */
const PAGE_KEYS = 64;
/** The digits of the largest safe integer. etcd compares values as bytes, so numbers are padded. */
const FENCE_DIGITS = 16;
const NO_WATCH = new Error("etcd did not create the watch.");

/** A route store on etcd, through etcd3. All reads are linearizable. */
export class EtcdRouteStore implements RouteStore {
  readonly #connection: EtcdConnection;
  readonly #observer: StoreObserver;
  readonly #watches = new Set<EtcdWatch>();
  readonly #leases = new Set<EtcdLease>();

  constructor(options: EtcdConnectionOptions, observer: StoreObserver) {
    this.#connection = new EtcdConnection(options);
    this.#observer = observer;
  }

  get(key: string): Promise<RouteEntry | null> {
    return this.#call("get", async (client, deadline) => {
      const { kvs } = await client.kv.range({ key: Buffer.from(key) }, { deadline });
      const [entry] = kvs;
      return entry ? entryOf(entry) : null;
    });
  }

  list(prefix: string): Promise<RouteListing> {
    return this.#observed("list", () => this.#listAtOneRevision(prefix));
  }

  summarize(prefix: string): Promise<RouteSummary> {
    const { start, end } = Range.prefix(prefix);
    const request: IRangeRequest = {
      key: Buffer.from(start),
      range_end: Buffer.from(end),
      sort_target: "Mod",
      sort_order: "Descend",
      limit: 1,
      keys_only: true,
    };
    return this.#call("summarize", async (client, deadline) => {
      const { header, kvs, count } = await client.kv.range(request, { deadline });
      const newest = Number(kvs[0]?.mod_revision ?? 0);
      return { revision: Number(header.revision), newest, count: Number(count) };
    });
  }

  put(key: string, value: string): Promise<void> {
    return this.#write("put", async (client, deadline) => {
      await client.kv.put({ key: Buffer.from(key), value: Buffer.from(value) }, { deadline });
    });
  }

  delete(key: string): Promise<void> {
    return this.#write("delete", async (client, deadline) => {
      await client.kv.deleteRange({ key: Buffer.from(key) }, { deadline });
    });
  }

  /**
   * Writes `value`, unless a greater number is recorded for the fence. The write is the `failure` branch, because a
   * comparison with the value of a missing key is always false. A retry usually finds its own number, and writes the
   * same value again. After a newer write, a retry returns false, although the first attempt may have been applied and
   * replaced.
   */
  writeFenced({ key, value, fence }: FencedWrite): Promise<boolean> {
    const fenceKey = Buffer.from(fence.key);
    const fenceValue = Buffer.from(String(fence.value).padStart(FENCE_DIGITS, "0"));
    const write: IRequestOp =
      value === null
        ? { request_delete_range: { key: Buffer.from(key) } }
        : { request_put: { key: Buffer.from(key), value: Buffer.from(value) } };
    return this.#call("write_fenced", async (client, deadline) => {
      const { succeeded: stale } = await client.kv.txn(
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

  async watch(prefix: string, listener: RouteListener): Promise<RouteWatch> {
    const { start, end } = Range.prefix(prefix);
    const request = { key: Buffer.from(start), range_end: Buffer.from(end), limit: 1, keys_only: true };
    const read = (timeoutMs?: number) =>
      this.#connection.call(
        async (client, deadline) => {
          await client.kv.range(request, { deadline });
          return client;
        },
        { timeoutMs },
      );
    // Read once: the watch itself would retry forever, and not report that the user has no right to read the prefix.
    await read().catch(throwRouteStoreFailure);
    const watch = new EtcdWatch(() => read(WATCH_READ_MS), prefix, listener);
    this.#watches.add(watch);
    const close = async () => {
      this.#watches.delete(watch);
      watch.close();
    };
    try {
      await withDeadline(watch.established, WATCH_MS, () => new StoreUnavailable("route_store", NO_WATCH));
      return { close };
    } catch (error) {
      void close();
      throw error;
    }
  }

  lease(key: string, options: LeaseOptions): RouteLease {
    const lease = new EtcdLease(key, options, (...call) => this.#call(...call));
    this.#leases.add(lease);
    return {
      put: (value) => lease.put(value),
      release: () => {
        this.#leases.delete(lease);
        return lease.release();
      },
    };
  }

  ping(timeoutMs: number): Promise<void> {
    return this.#call("ping", readNothing, { timeoutMs });
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) watch.close();
    this.#watches.clear();
    for (const lease of this.#leases) lease.abandon();
    this.#leases.clear();
    this.#connection.close();
  }

  async #listAtOneRevision(prefix: string): Promise<RouteListing> {
    const range = Range.prefix(prefix);
    const entries: RouteEntry[] = [];
    let key = Buffer.from(range.start);
    let revision: string | undefined;
    for (;;) {
      const request = { key, range_end: Buffer.from(range.end), limit: PAGE_KEYS, revision };
      const page = await this.#connection.call((client, deadline) => client.kv.range(request, { deadline }));
      for (const pair of page.kvs) entries.push(entryOf(pair));
      const last = page.kvs.at(-1);
      revision ??= page.header.revision;
      if (!page.more || last === undefined) return { revision: Number(revision), entries };
      key = Buffer.concat([last.key, Buffer.from([0])]);
    }
  }

  #call<T>(operation: string, call: EtcdCall<T>, options?: CallOptions): Promise<T> {
    return this.#observed(operation, () => this.#connection.call(call, options));
  }

  #write<T>(operation: string, write: EtcdCall<T>): Promise<T> {
    return this.#call(operation, write, { once: true });
  }

  #observed<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const name = { system: "etcd", operation, namespace: ROUTE_STORE_NAMESPACE };
    return observed(this.#observer, name, () => work().catch(throwRouteStoreFailure));
  }
}

function entryOf(pair: IKeyValue): RouteEntry {
  return { key: pair.key.toString(), value: pair.value.toString(), revision: Number(pair.mod_revision) };
}

/** Throws `StoreUnavailable` if etcd did not respond, or denied the user a key, and any other error unchanged. */
function throwRouteStoreFailure(error: unknown): never {
  if (error instanceof StoreUnavailable || error instanceof GRPCInvalidArgumentError) throw error;
  const absent =
    error instanceof GRPCGenericError ||
    error instanceof EtcdError ||
    error instanceof EtcdPermissionDeniedError ||
    error instanceof ClientRuntimeError ||
    error instanceof ClientClosedError;
  throw absent ? new StoreUnavailable("route_store", error) : error;
}
