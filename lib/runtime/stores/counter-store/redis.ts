import { Cluster, Redis, type RedisOptions } from "ioredis";
import { Batches, type Member, systemClock, tickClock, withDeadline } from "../../../async/index.ts";
import { type PeerTls, renewingOptions, type TlsOptions } from "../../config/index.ts";
import { answerWithin } from "../deadline.ts";
import { StoreUnavailable } from "../errors.ts";
import type { StoreObserver } from "../observer.ts";
import { refusalOf } from "./boot-failure.ts";
import type { Charge, CounterStore, Refund, WindowCount } from "./counter-store.ts";
import { type ScriptCommands, scripts } from "./redis-scripts.ts";

/** The timeout of a command and of a connection attempt (GW-73). */
const TIMEOUT_MS = 500;
const TICK_MS = 25;
const RECONNECT_MS = 200;
/**
 * The timeout of other traffic, such as the handshake. It far exceeds the time for which a burst keeps the
 * process from reading.
 */
const SILENCE_MS = 2_000;
/**
 * The maximum number of counts in one command. The limit bounds the time for which a command blocks the
 * server. A cluster's buckets are on different nodes, so each count is a command of its own.
 */
const BATCH_MAX = 256;
/**
 * The maximum number of redirections of one command while a cluster moves slots. The command's 500 ms include
 * the redirections.
 */
const REDIRECTIONS_MAX = 3;
/** The interval at which the store asks a cluster for its slots. */
const SLOTS_MS = 5_000;
/** The shortest interval between requests for the slots while counts fail. */
const SLOTS_FAILING_MS = 250;

/**
 * The options of every connection. Nothing is queued while the connection is down, and nothing is sent twice:
 * a count that was reported as failed must not be executed later. The timeout of the counts, or else
 * `socketTimeout`, detects a server that accepts bytes but stays silent. The client then reconnects.
 */
const connection = {
  // INFO would show that a server is still loading, but not every user may run INFO. The answer to a count
  // shows the same.
  enableReadyCheck: false,
  connectTimeout: TIMEOUT_MS,
  disconnectTimeout: 1,
  socketTimeout: SILENCE_MS,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // A primary that has become a replica is left: a new connection resolves the host name again.
  reconnectOnError: (error) => error.message.startsWith("READONLY"),
} satisfies RedisOptions;

export type RedisClient = (Redis | Cluster) & ScriptCommands;

/** Connects to one server. */
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

/**
 * Connects to a cluster by some of its nodes. A count has one key, so it is sent to the node with that key's
 * slot.
 */
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
  // Connects at once. ioredis would connect at the first command, and fail other commands in the meantime.
  client.on("+node", (node: Redis) => {
    if (node.status === "wait") node.connect().catch(() => {}); // ioredis keeps trying
  });
  return withScripts(client);
}

export interface ClusterNodes {
  hosts: { host: string; port: number }[];
  username?: string;
  password?: string;
  /** The TLS options for every node, if any. */
  tls?: TlsOptions;
}

function withScripts(client: Redis | Cluster): RedisClient {
  // biome-ignore lint/plugin: both clients define the commands of `scripts`, but their types do not list them
  return client as RedisClient;
}

interface Count {
  readonly bucket: string;
  readonly window_ms: number;
  readonly started_ms: number;
}

/** A count that has no answer yet. */
type Asked = Member<Count, WindowCount>;

interface ChargedGroup {
  readonly charges: readonly Charge[];
  readonly started_ms: number;
}

/** Charges that have no answer yet. */
type AskedGroup = Member<ChargedGroup, WindowCount[] | null>;

/** A counter store on Redis, one server or a cluster, with ioredis. */
export class RedisCounterStore implements CounterStore {
  readonly #client: RedisClient;
  readonly #namespace: string;
  readonly #observer: StoreObserver;
  readonly #counts: Batches<Count, WindowCount>;
  readonly #charges: Batches<ChargedGroup, WindowCount[] | null>;
  readonly isSpread: boolean;
  /** The clock of timeouts. A process that is too busy to read answers must not drop a healthy server. */
  readonly #clock = tickClock(TICK_MS);
  #slots_asked_ms = Number.NEGATIVE_INFINITY;

  constructor(client: RedisClient, namespace: string, observer: StoreObserver) {
    this.#client = client;
    this.#namespace = namespace;
    this.#observer = observer;
    this.isSpread = client instanceof Cluster;
    const items_max = this.isSpread ? 1 : BATCH_MAX;
    this.#counts = new Batches((batch) => this.#count(batch), { items_max });
    this.#charges = new Batches((batch) => this.#charge(batch), { items_max });
    // Each command reports its own failure. Without a listener ioredis prints connection errors.
    client.on("error", () => {});
  }

  /**
   * Resolves when connected, or after 500 ms; the client then keeps trying. Rejects with `StoreUnavailable`
   * when the server permanently refuses.
   */
  async connected(): Promise<void> {
    const refused = Promise.withResolvers<never>();
    const onError = (error: unknown) => {
      const message = refusalOf(error);
      if (message !== undefined) refused.reject(new StoreUnavailable("counter_store", error, { message }));
    };
    this.#client.on("error", onError);
    try {
      await Promise.race([refused.promise, this.#ready(), Bun.sleep(TIMEOUT_MS)]);
    } finally {
      this.#client.off("error", onError);
    }
  }

  increment(bucket: string, window_seconds: number): Promise<WindowCount> {
    const window_ms = window_seconds * 1000;
    return this.#counts.add({ bucket, window_ms, started_ms: systemClock.elapsed_ms() });
  }

  charge(charges: readonly Charge[]): Promise<WindowCount[] | null> {
    return this.#charges.add({ charges, started_ms: systemClock.elapsed_ms() });
  }

  async refund(refunds: readonly Refund[]): Promise<void> {
    const started_ms = systemClock.elapsed_ms();
    const buckets = refunds.map(({ bucket }) => bucket);
    const times_ms = refunds.map(({ ttl_ms }) => ttl_ms);
    try {
      await this.#answered(this.#client.refundCharges(refunds.length, ...buckets, ...times_ms));
      this.#observe("refund", started_ms, false);
    } catch (error) {
      this.#observe("refund", started_ms, true);
      throw new StoreUnavailable("counter_store", error);
    }
  }

  async ping(timeout_ms: number): Promise<void> {
    const answer = this.#anyNodeAnswers().catch((error) => {
      throw new StoreUnavailable("counter_store", error);
    });
    await answerWithin(timeout_ms, "counter_store", answer);
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }

  /**
   * Pings the server, or all primaries of a cluster. One answer is enough: while some slots are unavailable,
   * the other buckets are still counted.
   */
  #anyNodeAnswers(): Promise<unknown> {
    if (this.#client instanceof Redis) return this.#client.ping();
    return Promise.any(this.#client.nodes("master").map((node) => node.ping()));
  }

  async #ready(): Promise<void> {
    await untilReady(this.#client);
    if (this.#client instanceof Cluster) await Promise.all(this.#client.nodes("master").map(untilReady));
  }

  /** Sends a batch as one command. Settles each of its counts and never rejects. */
  async #count(batch: readonly Asked[]): Promise<void> {
    const buckets = batch.map(({ item }) => item.bucket);
    const windows_ms = batch.map(({ item }) => item.window_ms);
    try {
      const call = this.#client.countInWindows(batch.length, ...buckets, ...windows_ms);
      const counts = countsIn(await this.#answered(call));
      batch.forEach((asked, index) => {
        const counted = counts[index];
        if (counted === undefined || counted.count < 1) this.#fail("increment", asked, new Error(NO_COUNT));
        else this.#succeed("increment", asked, counted);
      });
    } catch (error) {
      this.#askForSlots();
      for (const asked of batch) this.#fail("increment", asked, error);
    }
  }

  /** Sends a batch of groups as one command. Settles each group and never rejects. */
  async #charge(batch: readonly AskedGroup[]): Promise<void> {
    const groups = batch.map(({ item }) => item.charges);
    const charges = groups.flat();
    const numbers = charges.flatMap(({ window_ms, requests, start }) => [
      window_ms,
      requests,
      start ?? NO_START,
    ]);
    try {
      const call = this.#client.chargeGroups(
        charges.length,
        ...charges.map(({ bucket }) => bucket),
        groups.length,
        ...groups.map(({ length }) => length),
        ...numbers,
      );
      const counts = countsIn(await this.#answered(call));
      for (const asked of batch) {
        const own = counts.splice(0, asked.item.charges.length);
        if (own.some(({ count }) => count === UNKNOWN)) this.#succeed("charge", asked, null);
        else if (own.some(({ count }) => count < 0)) this.#fail("charge", asked, new Error(NO_COUNT));
        else this.#succeed("charge", asked, own);
      }
    } catch (error) {
      this.#askForSlots();
      for (const asked of batch) this.#fail("charge", asked, error);
    }
  }

  #answered<T>(call: Promise<T>): Promise<T> {
    return withDeadline(call, TIMEOUT_MS, () => this.#leaveSilentServer(), this.#clock);
  }

  /**
   * Reconnects to a silent server. A server answers in order, so it would count every waiting request late. A
   * cluster keeps its connections, because only one node may be silent.
   */
  #leaveSilentServer(): Error {
    if (this.#client instanceof Redis && this.#client.status === "ready") this.#client.disconnect(true);
    return new Error(`No answer within ${TIMEOUT_MS} ms.`);
  }

  /** Refreshes the slots. The replica of a dead or frozen node takes over within seconds without an announcement. */
  #askForSlots(): void {
    if (this.#client instanceof Redis) return;
    const now_ms = systemClock.elapsed_ms();
    if (now_ms - this.#slots_asked_ms < SLOTS_FAILING_MS) return;
    this.#slots_asked_ms = now_ms;
    this.#client.refreshSlotsCache();
  }

  #succeed<Result>(operation: string, asked: Member<Timed, Result>, result: Result): void {
    this.#observe(operation, asked.item.started_ms, false);
    asked.resolve(result);
  }

  #fail(operation: string, asked: Member<Timed, never>, error: unknown): void {
    this.#observe(operation, asked.item.started_ms, true);
    asked.reject(new StoreUnavailable("counter_store", error));
  }

  #observe(operation: string, started_ms: number, failed: boolean): void {
    this.#observer({
      system: "redis",
      operation,
      namespace: this.#namespace,
      duration_ms: systemClock.elapsed_ms() - started_ms,
      failed,
    });
  }
}

interface Timed {
  readonly started_ms: number;
}

/** The argument of the script for an unknown start. */
const NO_START = -1;
/** The count that the script returns for each bucket of a group with an unknown start. */
const UNKNOWN = -2;

const NO_COUNT = "The bucket's key holds a value that is not a count.";

/** Returns the pairs of count and remaining milliseconds in a script's answer. */
function countsIn(answers: readonly number[]): WindowCount[] {
  const counts: WindowCount[] = [];
  for (let index = 0; index < answers.length; index += 2) {
    const [count = 0, ttl_ms = 0] = [answers[index], answers[index + 1]];
    counts.push({ count, ttl_ms: ttl_ms > 0 ? ttl_ms : 1 });
  }
  return counts;
}

function untilReady(client: Redis | Cluster): Promise<void> {
  return new Promise((resolve) => {
    if (client.status === "ready") resolve();
    else client.once("ready", () => resolve());
  });
}
