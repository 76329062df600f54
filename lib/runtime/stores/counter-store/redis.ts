import { Cluster, Redis, type RedisOptions } from "ioredis";
import { Batches, type Member, pause, systemClock } from "../../../async/index.ts";
import { type PeerTls, renewingOptions, type TlsOptions } from "../../config/index.ts";
import { StoreUnavailable } from "../errors.ts";
import { COUNTERS_NAMESPACE, observed, type StoreObserver } from "../observer.ts";
import { counterStoreRefusal } from "../store-boot-failure.ts";
import type { Charge, ChargedWindow, CounterStore, Refund, WindowCount } from "./counter-store.ts";
import { type ScriptCommands, scripts } from "./redis-scripts.ts";

/** The timeout of a command and of a connection attempt (GW-73). */
const TIMEOUT_MS = 500;
/** The time for which a start waits for a connection. A busy process may read a refusal late. */
const START_MS = 2_000;
const RECONNECT_MS = 200;
/** The time without a reply to any command after which a connection is replaced by a new one. */
const SILENCE_MS = 1_000;
/** The increments in one command, which blocks the server. A cluster gets one command for each: its nodes differ. */
const BATCH_MAX = 256;
/** The redirections of one command while a cluster moves slots, within the command's timeout. */
const REDIRECTIONS_MAX = 3;
/** A cluster does not announce that the replica of a dead or frozen node has taken over. */
const SLOTS_MS = 1_000;

/**
 * Commands are neither queued while the connection is down nor sent twice. A command that times out fails alone. Redis
 * replies to the commands of a connection in order, so a connection without any reply is silent, and replaced.
 */
const connection = {
  // Skip INFO, which not every user may run. The reply to an increment also shows that a server is still loading.
  enableReadyCheck: false,
  connectTimeout: TIMEOUT_MS,
  commandTimeout: TIMEOUT_MS,
  disconnectTimeout: 1,
  socketTimeout: SILENCE_MS,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // A primary may have become a replica. A new connection resolves the host name again.
  reconnectOnError: (error) => error.message.startsWith("READONLY"),
} satisfies RedisOptions;

type RedisClient = (Redis | Cluster) & ScriptCommands;

export function connectRedis(url: string, tls?: PeerTls): RedisClient {
  const client = new Redis(url, {
    ...connection,
    enableOfflineQueue: false,
    retryStrategy: () => RECONNECT_MS,
    ...(tls !== undefined && { tls: renewingOptions(tls) }),
    scripts,
  });
  return withScripts(client);
}

/** Connects to a cluster through some of its nodes. */
export function connectCluster(nodes: ClusterNodes): RedisClient {
  const { hosts, ...credentials } = nodes;
  const client = new Cluster(hosts, {
    enableOfflineQueue: false,
    maxRedirections: REDIRECTIONS_MAX,
    retryDelayOnFailover: 0,
    slotsRefreshTimeout: TIMEOUT_MS,
    slotsRefreshInterval: SLOTS_MS,
    clusterRetryStrategy: () => RECONNECT_MS,
    clusterNodeRetryStrategy: () => RECONNECT_MS,
    redisOptions: { ...connection, ...credentials },
    scripts,
  });
  // ioredis would connect at the first command, and fail other commands until it is connected.
  client.on("+node", (node: Redis) => {
    if (node.status === "wait") node.connect().catch(() => {}); // ioredis keeps trying
  });
  return withScripts(client);
}

export interface ClusterNodes {
  hosts: { host: string; port: number }[];
  username?: string;
  password?: string;
  tls?: TlsOptions;
}

function withScripts(client: Redis | Cluster): RedisClient {
  // biome-ignore lint/plugin: both clients define the commands of `scripts`, but their types do not list them
  return client as RedisClient;
}

interface Count {
  readonly bucket: string;
  readonly windowMs: number;
  readonly startedMs: number;
}

type Asked = Member<Count, WindowCount>;

interface ChargedGroup {
  readonly charges: readonly Charge[];
  readonly startedMs: number;
}

type AskedGroup = Member<ChargedGroup, ChargedWindow[] | null>;

export class RedisCounterStore implements CounterStore {
  readonly #client: RedisClient;
  readonly #observer: StoreObserver;
  readonly #counts: Batches<Count, WindowCount>;
  readonly #charges: Batches<ChargedGroup, ChargedWindow[] | null>;
  readonly isSpread: boolean;

  constructor(client: RedisClient, observer: StoreObserver) {
    this.#client = client;
    this.#observer = observer;
    this.isSpread = client instanceof Cluster;
    const itemsMax = this.isSpread ? 1 : BATCH_MAX;
    this.#counts = new Batches((batch) => this.#count(batch), { itemsMax });
    this.#charges = new Batches((batch) => this.#charge(batch), { itemsMax });
    // Each command reports its own failure. Without this listener, ioredis prints connection errors.
    client.on("error", () => {});
  }

  /** Resolves when the client is connected, or after two seconds. Rejects if the server permanently refuses it. */
  async connected(): Promise<void> {
    const refused = Promise.withResolvers<never>();
    const onError = (error: unknown) => {
      const message = counterStoreRefusal(error);
      if (message !== undefined) refused.reject(new StoreUnavailable("counter_store", error, { message }));
    };
    this.#client.on("error", onError);
    try {
      await Promise.race([refused.promise, this.#ready(), pause(systemClock, START_MS)]);
    } finally {
      this.#client.off("error", onError);
    }
  }

  increment(bucket: string, window_seconds: number): Promise<WindowCount> {
    const windowMs = window_seconds * 1000;
    return this.#counts.add({ bucket, windowMs, startedMs: systemClock.elapsedMs() });
  }

  charge(charges: readonly Charge[]): Promise<ChargedWindow[] | null> {
    return this.#charges.add({ charges, startedMs: systemClock.elapsedMs() });
  }

  refund(refunds: readonly Refund[]): Promise<boolean[]> {
    const buckets = refunds.map(({ bucket }) => bucket);
    const ends = refunds.map(({ endsMs }) => endsMs);
    const name = { system: "redis", operation: "refund", namespace: COUNTERS_NAMESPACE };
    return observed(this.#observer, name, async () => {
      const replies = await this.#client
        .refundCharges(refunds.length, ...buckets, ...ends)
        .catch(unavailable);
      return replies.map((reply) => reply === 1);
    });
  }

  async ping(): Promise<void> {
    await this.#pingAnyNode().catch(unavailable);
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }

  /** One reply of a primary is enough: requests can be counted in the buckets of its slots. */
  #pingAnyNode(): Promise<unknown> {
    if (this.#client instanceof Redis) return this.#client.ping();
    return Promise.any(this.#client.nodes("master").map((node) => node.ping()));
  }

  async #ready(): Promise<void> {
    await untilReady(this.#client);
    if (this.#client instanceof Cluster) await Promise.all(this.#client.nodes("master").map(untilReady));
  }

  #count(batch: readonly Asked[]): Promise<void> {
    const buckets = batch.map(({ item }) => item.bucket);
    const windowsMs = batch.map(({ item }) => item.windowMs);
    return this.#settle("increment", batch, async () => {
      const counts = countsIn(await this.#client.countInWindows(batch.length, ...buckets, ...windowsMs));
      return counts.map((counted) => (counted.count < 1 ? undefined : counted));
    });
  }

  #charge(batch: readonly AskedGroup[]): Promise<void> {
    const groups = batch.map(({ item }) => item.charges);
    const buckets = groups.flatMap((charges) => charges.map(({ bucket }) => bucket));
    const numbers = JSON.stringify(groups.map((charges) => charges.map(numbersOf)));
    return this.#settle("charge", batch, async () => {
      const [nowMs = 0, ...counted] = await this.#client.chargeGroups(buckets.length, ...buckets, numbers);
      const counts = countsIn(counted).map((each) => ({ ...each, endsMs: nowMs + each.ttlMs }));
      return groups.map(({ length }) => {
        const own = counts.splice(0, length);
        if (own.some(({ count }) => count === UNKNOWN)) return null;
        return own.some(({ count }) => count < 0) ? undefined : own;
      });
    });
  }

  /** Settles the members of a batch. A member without a result has a bucket whose key holds no count. */
  async #settle<Item extends Timed, Result>(
    operation: string,
    batch: readonly Member<Item, Result>[],
    work: () => Promise<(Result | undefined)[]>,
  ): Promise<void> {
    let results: (Result | undefined)[] = [];
    let cause: unknown = new Error("The bucket's key holds a value that is not a count.");
    try {
      results = await work();
    } catch (error) {
      cause = error;
    }
    for (const [index, { item, resolve, reject }] of batch.entries()) {
      const result = results[index];
      this.#observe(operation, item.startedMs, result === undefined);
      if (result === undefined) reject(new StoreUnavailable("counter_store", cause));
      else resolve(result);
    }
  }

  #observe(operation: string, startedMs: number, failed: boolean): void {
    this.#observer({
      system: "redis",
      operation,
      namespace: COUNTERS_NAMESPACE,
      duration_ms: systemClock.elapsedMs() - startedMs,
      failed,
    });
  }
}

function unavailable(error: unknown): never {
  throw new StoreUnavailable("counter_store", error);
}

interface Timed {
  readonly startedMs: number;
}

/** The script argument for the longest time of a window whose end is never moved. */
const NEVER_SHORTENED = Number.MAX_SAFE_INTEGER;
const NO_START = -1;
/** The count that the script returns for each bucket of a group if a start is unknown. */
const UNKNOWN = -2;

function numbersOf({ windowMs, isPeriod, requests, start }: Charge): number[] {
  return [windowMs, isPeriod ? NEVER_SHORTENED : windowMs, requests, start ?? NO_START];
}

function countsIn(replies: readonly number[]): WindowCount[] {
  const counts: WindowCount[] = [];
  for (let index = 0; index < replies.length; index += 2) {
    const [count = 0, ttlMs = 0] = [replies[index], replies[index + 1]];
    counts.push({ count, ttlMs: ttlMs > 0 ? ttlMs : 1 });
  }
  return counts;
}

function untilReady(client: Redis | Cluster): Promise<void> {
  return new Promise((resolve) => {
    if (client.status === "ready") resolve();
    else client.once("ready", () => resolve());
  });
}
