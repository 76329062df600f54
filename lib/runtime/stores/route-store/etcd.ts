import { type Etcd3, type IKeyValue, type IRangeRequest, type IRequestOp, Range } from "etcd3";
import { answerWithin } from "../answer-within.ts";
import { observed, type StoreObserver } from "../observer.ts";
import { lateDeadline, readNothing } from "./etcd-endpoint.ts";
import { EtcdEndpoints, type EtcdEndpointsOptions } from "./etcd-endpoints.ts";
import { EtcdLease } from "./etcd-lease.ts";
import { EtcdWatch } from "./etcd-watch.ts";
import { isCompacted, throwRouteStoreFailure } from "./failure.ts";
import type { CallTimes } from "./hedged-call.ts";
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

/** The timeouts of a call. They are longer than a leader election of etcd, which takes about two seconds. */
const CALL: CallTimes = { timeoutMs: 3_000, attemptMs: 1_000, hedgeMs: 250 };
/** The timeouts of reading a page. A page is large, so a second node is asked only after a longer delay. */
const PAGE: CallTimes = { timeoutMs: 5_000, attemptMs: 5_000, hedgeMs: 1_000 };
/**
 * The number of keys in a page. A value can have 1 MiB (etcd's limit is 1.5 MiB), and a page must fit into
 * one gRPC message.
 */
const PAGE_KEYS = 64;
/**
 * The maximum number of attempts at a listing. A listing starts again if etcd compacts its revision in the
 * meantime.
 */
const LIST_ATTEMPTS = 3;
/**
 * The number of digits of the largest safe integer. etcd compares values as bytes, so numbers are padded to
 * this width.
 */
const FENCE_DIGITS = 16;

/** A route store on etcd, through etcd3. All reads are linearizable. */
export class EtcdRouteStore implements RouteStore {
  readonly #endpoints: EtcdEndpoints;
  readonly #namespace: string;
  readonly #observer: StoreObserver;
  readonly #watches = new Set<EtcdWatch>();
  readonly #leases = new Set<EtcdLease>();

  constructor(endpoints: EtcdEndpointsOptions, namespace: string, observer: StoreObserver) {
    this.#endpoints = new EtcdEndpoints(endpoints);
    this.#namespace = namespace;
    this.#observer = observer;
  }

  get(key: string): Promise<RouteEntry | null> {
    return this.#call("get", CALL, async (client, deadline) => {
      const { kvs } = await client.kv.range({ key: Buffer.from(key) }, { deadline });
      const [entry] = kvs;
      return entry ? entryOf(entry) : null;
    });
  }

  list(prefix: string): Promise<RouteListing> {
    return this.#observed("list", async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#listAtOneRevision(prefix);
        } catch (error) {
          if (!isCompacted(error) || attempt === LIST_ATTEMPTS) throw error;
        }
      }
    });
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
    return this.#call("summarize", CALL, async (client, deadline) => {
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
   * Writes `value`, unless a greater number is recorded for the fence. The transaction tests for "greater" and writes
   * in the `failure` branch. The reason: a comparison with the value of a missing key is always false. A retry on
   * another node usually finds its own number, and writes the same value again. After a newer write, a retry does
   * nothing and returns false, although the first attempt may have been applied and then replaced.
   */
  writeFenced({ key, value, fence }: FencedWrite): Promise<boolean> {
    const fenceKey = Buffer.from(fence.key);
    const fenceValue = Buffer.from(String(fence.value).padStart(FENCE_DIGITS, "0"));
    const write: IRequestOp =
      value === null
        ? { request_delete_range: { key: Buffer.from(key) } }
        : { request_put: { key: Buffer.from(key), value: Buffer.from(value) } };
    return this.#call("write_fenced", CALL, async (client, deadline) => {
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
    const findNode = async () => (await this.#endpoints.ask(CALL, readNothing)).client;
    // Check once whether the user may read the prefix: the watch itself would retry forever and report no error.
    await this.summarize(prefix);
    const watch = new EtcdWatch(findNode, prefix, listener);
    this.#watches.add(watch);
    const close = async () => {
      this.#watches.delete(watch);
      watch.close();
    };
    try {
      await answerWithin(CALL.timeoutMs, "route_store", watch.established);
      return { close };
    } catch (error) {
      void close();
      throw error;
    }
  }

  lease(key: string, options: LeaseOptions): RouteLease {
    const lease = new EtcdLease(key, options, {
      call: (operation, call) => this.#call(operation, CALL, call),
      write: (operation, write) => this.#write(operation, write),
    });
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
    return this.#call("ping", { ...CALL, timeoutMs }, readNothing);
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) watch.close();
    this.#watches.clear();
    for (const lease of this.#leases) lease.abandon();
    this.#leases.clear();
    this.#endpoints.close();
  }

  async #listAtOneRevision(prefix: string): Promise<RouteListing> {
    const range = Range.prefix(prefix);
    const entries: RouteEntry[] = [];
    let key = Buffer.from(range.start);
    let revision: string | undefined;
    for (;;) {
      const request = { key, range_end: Buffer.from(range.end), limit: PAGE_KEYS, revision };
      const { value: page } = await this.#endpoints.ask(PAGE, (client, deadline) =>
        client.kv.range(request, { deadline }),
      );
      for (const pair of page.kvs) entries.push(entryOf(pair));
      const last = page.kvs.at(-1);
      revision ??= page.header.revision;
      if (!page.more || last === undefined) return { revision: Number(revision), entries };
      key = Buffer.concat([last.key, Buffer.from([0])]);
    }
  }

  /** Makes a call that several nodes can execute without harm. */
  #call<T>(
    operation: string,
    times: CallTimes,
    call: (client: Etcd3, deadline: number) => Promise<T>,
  ): Promise<T> {
    return this.#observed(operation, async () => (await this.#endpoints.ask(times, call)).value);
  }

  /** Sends an unconditional write once, to one node. A retry could undo a later write. */
  #write<T>(operation: string, write: (client: Etcd3, deadline: number) => Promise<T>): Promise<T> {
    return this.#observed(operation, async () => {
      const { client } = await this.#endpoints.ask(CALL, readNothing);
      const written = write(client, lateDeadline(CALL.timeoutMs));
      return answerWithin(CALL.timeoutMs, "route_store", written);
    });
  }

  #observed<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const name = { system: "etcd", operation, namespace: this.#namespace };
    return observed(this.#observer, name, () => work().catch(throwRouteStoreFailure));
  }
}

function entryOf(pair: IKeyValue): RouteEntry {
  return { key: pair.key.toString(), value: pair.value.toString(), revision: Number(pair.mod_revision) };
}
