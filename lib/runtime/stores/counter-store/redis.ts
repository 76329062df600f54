import { Cluster, Redis, type RedisOptions } from "ioredis";
import { systemClock, TurnBatch, tickClock, withDeadline } from "../../../async/index.ts";
import { type PeerTls, renewingOptions, type TlsOptions } from "../../config/index.ts";
import { answerWithin } from "../deadline.ts";
import { StoreUnavailable } from "../errors.ts";
import type { StoreObserver } from "../observer.ts";
import { refusalOf } from "./boot-failure.ts";
import type { CounterStore, WindowCount } from "./counter-store.ts";
import { type ScriptCommands, scripts } from "./script.ts";

/** Gateway specification, Other constants: for a command and for a connect. */
const TIMEOUT_MS = 500;
const TICK_MS = 25;
const RECONNECT_MS = 200;
/** For what is no count, such as the handshake: well above what a burst keeps the process from reading. */
const SILENCE_MS = 2_000;
/** Bounds how long one command keeps the server from others. A cluster's buckets live apart, so each goes alone. */
const BATCH_MAX = 256;
/** A cluster that is moving slots may send a command on this often, within its 500 ms. */
const REDIRECTIONS_MAX = 3;
/** How often a cluster is asked who serves which buckets: always, and at most while counts fail. */
const SLOTS_MS = 5_000;
const SLOTS_FAILING_MS = 250;

/**
 * Nothing is queued while the connection is down and nothing is sent twice: a count that was reported as
 * failed must not be made up for later. A server that takes the bytes and stays silent is noticed by
 * the counts' deadline, else by `socketTimeout`; the connection is then dropped and made anew.
 */
const connection = {
  // INFO, which not every user may ask for, would tell that a server still loads; so does the answer to a count
  enableReadyCheck: false,
  connectTimeout: TIMEOUT_MS,
  disconnectTimeout: 1,
  socketTimeout: SILENCE_MS,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // a primary that was made a replica meanwhile: connect anew, to where the name leads now
  reconnectOnError: (error) => error.message.startsWith("READONLY"),
} satisfies RedisOptions;

export type RedisClient = (Redis | Cluster) & ScriptCommands;

/** One server. */
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

/** A cluster, known by some of its nodes; a count is one key, so it is sent to the node that has its slot. */
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
  // ioredis connects to a node with its first command, and fails the others sent meanwhile
  client.on("+node", (node: Redis) => {
    if (node.status === "wait") node.connect().catch(() => {}); // it goes on trying
  });
  return withScripts(client);
}

export interface ClusterNodes {
  hosts: { host: string; port: number }[];
  username?: string;
  password?: string;
  /** By which each node is called, if there is one. */
  tls?: TlsOptions;
}

function withScripts(client: Redis | Cluster): RedisClient {
  // biome-ignore lint/plugin: both define the commands of `scripts` on themselves, unknown to their types
  return client as RedisClient;
}

/** A count that was asked for and is not answered yet. */
interface Asked {
  readonly bucket: string;
  readonly window_ms: number;
  readonly started_ms: number;
  readonly resolve: (counted: WindowCount) => void;
  readonly reject: (error: StoreUnavailable) => void;
}

/** Redis, one server or a cluster, by ioredis. */
export class RedisCounterStore implements CounterStore {
  readonly #client: RedisClient;
  readonly #namespace: string;
  readonly #observer: StoreObserver;
  readonly #batch: TurnBatch<Asked>;
  /** A process that is too busy to read the answers must not leave a healthy server. */
  readonly #clock = tickClock(TICK_MS);
  #slots_asked_ms = Number.NEGATIVE_INFINITY;

  constructor(client: RedisClient, namespace: string, observer: StoreObserver) {
    this.#client = client;
    this.#namespace = namespace;
    this.#observer = observer;
    this.#batch = new TurnBatch(
      client instanceof Cluster ? 1 : BATCH_MAX,
      (batch) => void this.#count(batch),
    );
    // Each command reports its own failure; without a listener ioredis prints the connection's.
    client.on("error", () => {});
  }

  /**
   * Resolves when connected, or after 500 ms without: the client goes on trying by itself. Rejects with
   * `StoreUnavailable` when the server says that trying is of no use.
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
    const started_ms = systemClock.elapsed_ms();
    return new Promise((resolve, reject) =>
      this.#batch.add({ bucket, window_ms, started_ms, resolve, reject }),
    );
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

  /** Of a cluster one is enough: while a part of the buckets is away, the others are counted. */
  #anyNodeAnswers(): Promise<unknown> {
    if (this.#client instanceof Redis) return this.#client.ping();
    return Promise.any(this.#client.nodes("master").map((node) => node.ping()));
  }

  async #ready(): Promise<void> {
    await untilReady(this.#client);
    if (this.#client instanceof Cluster) await Promise.all(this.#client.nodes("master").map(untilReady));
  }

  /** Sends a batch as one command. Settles each count of it, and never rejects. */
  async #count(batch: Asked[]): Promise<void> {
    const buckets = batch.map(({ bucket }) => bucket);
    const windows_ms = batch.map(({ window_ms }) => window_ms);
    try {
      const call = this.#client.countInWindows(batch.length, ...buckets, ...windows_ms);
      const answers = await withDeadline(call, TIMEOUT_MS, () => this.#leaveSilentServer(), this.#clock);
      batch.forEach((asked, index) => {
        const [count = 0, ttl_ms = 0] = [answers[2 * index], answers[2 * index + 1]];
        if (count < 1) this.#fail(asked, new Error("The bucket's key holds something that is no count."));
        else this.#succeed(asked, { count, ttl_ms: ttl_ms > 0 ? ttl_ms : 1 });
      });
    } catch (error) {
      this.#askForSlots();
      for (const asked of batch) this.#fail(asked, error);
    }
  }

  /**
   * One server answers in order: when it owes the oldest count, it owes all, and would make up for those sent
   * meanwhile when it speaks again. A cluster goes on, since only one of its nodes may be silent.
   */
  #leaveSilentServer(): Error {
    if (this.#client instanceof Redis && this.#client.status === "ready") this.#client.disconnect(true);
    return new Error(`No answer within ${TIMEOUT_MS} ms.`);
  }

  /** A replica of a node that died or froze takes its place within seconds, and does not say so. */
  #askForSlots(): void {
    if (this.#client instanceof Redis) return;
    const now_ms = systemClock.elapsed_ms();
    if (now_ms - this.#slots_asked_ms < SLOTS_FAILING_MS) return;
    this.#slots_asked_ms = now_ms;
    this.#client.refreshSlotsCache();
  }

  #succeed(asked: Asked, counted: WindowCount): void {
    this.#observe(asked, false);
    asked.resolve(counted);
  }

  #fail(asked: Asked, error: unknown): void {
    this.#observe(asked, true);
    asked.reject(new StoreUnavailable("counter_store", error));
  }

  #observe({ started_ms }: Asked, failed: boolean): void {
    this.#observer({
      system: "redis",
      operation: "increment",
      namespace: this.#namespace,
      duration_ms: systemClock.elapsed_ms() - started_ms,
      failed,
    });
  }
}

function untilReady(client: Redis | Cluster): Promise<void> {
  return new Promise((resolve) => {
    if (client.status === "ready") resolve();
    else client.once("ready", () => resolve());
  });
}
