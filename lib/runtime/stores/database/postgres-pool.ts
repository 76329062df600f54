import type postgres from "postgres";
import { KeyedSemaphore, type Release, Semaphore, systemClock } from "../../../async/index.ts";
import type { PeerTls } from "../../config/index.ts";
import { StoreUnavailable } from "../errors.ts";
import { ConnectionSet } from "./connection-set.ts";
import {
  databaseFailure,
  isConnectionLost,
  isReadOnly,
  isUnknownSetting,
  throwDatabaseFailure,
} from "./failure.ts";
import { PrimarySearch, serverUrls, wantsPrimary } from "./primary-search.ts";
import { settingsSince14 } from "./session-settings.ts";
import type { Watchdog } from "./watchdog.ts";

export interface PostgresLimits {
  /** The number of connections for work. The pool has one more connection, for pings. */
  poolMax: number;
  /** The maximum wait for a free connection. */
  acquireTimeoutMs: number;
  /** The maximum number of transactions that wait in one lane. */
  laneWaitingMax: number;
  /** The maximum time for which a transaction waits in its lane. */
  laneTimeoutMs: number;
  connectTimeoutMs: number;
  /** The server's `statement_timeout`. */
  statementTimeoutMs: number;
  /**
   * The server's `plan_cache_mode`, which decides whether the server may reuse one plan for all values of a
   * prepared statement. `force_custom_plan` is for statements whose best plan depends on the values, such as
   * pages of a large log.
   */
  plan_cache_mode: "auto" | "force_custom_plan";
}

export const postgresLimits: PostgresLimits = {
  poolMax: 10,
  acquireTimeoutMs: 3_000,
  laneWaitingMax: 1_000,
  laneTimeoutMs: 15_000,
  connectTimeoutMs: 3_000,
  statementTimeoutMs: 10_000,
  plan_cache_mode: "auto",
};

/** The share of the connections that transactions of one lane may use. */
const LANE_SHARE = 0.2;
/** The share of the connections that all writers together may use. */
const WRITERS_SHARE = 0.7;
/**
 * The time that the server has after `statement_timeout` to report the timeout. A server that stays silent for longer
 * counts as lost.
 */
const REPORT_MS = 1_000;
/**
 * The maximum age of work that is retried after a lost connection. The callers of older work may have given
 * up.
 */
const REPEAT_WITHIN_MS = 5_000;
/**
 * The minimum time between two reconnects because the server is a standby. A DNS name or proxy can take a
 * while to switch to the new primary.
 */
const STANDBY_PAUSE_MS = 500;

/**
 * A pool on top of postgres.js. It adds a timeout for getting a connection, a timeout for a response, new connections
 * after a loss, and a retry of lost work. All connections are replaced together: a broken connection of postgres.js
 * with unsent bytes does not always recover, and postgres.js cannot discard a single connection. If one connection is
 * silent, the other connections probably are too.
 */
export class PostgresPool {
  readonly #limits: PostgresLimits;
  readonly #url: string;
  readonly #tls: PeerTls | undefined;
  readonly #permits: Semaphore;
  readonly #streams: Semaphore;
  readonly #writers: Semaphore;
  readonly #lanes: KeyedSemaphore;
  /** The settings of sessions that only newer servers know. */
  #newerSettings = settingsSince14;
  /** The search for the primary among several servers, or null for a single server. */
  readonly #search: PrimarySearch | null;
  /** The current connections, or undefined while the primary is unknown. */
  #connections: ConnectionSet | undefined;
  #connecting: Promise<ConnectionSet> | undefined;
  #ping: Promise<unknown> | undefined;
  #closed = false;

  constructor(url: string, limits: PostgresLimits, tls?: PeerTls) {
    this.#url = url;
    this.#tls = tls;
    this.#limits = limits;
    this.#permits = new Semaphore(limits.poolMax);
    this.#streams = new Semaphore(Math.max(1, Math.floor(limits.poolMax / 2)));
    this.#writers = new Semaphore(Math.ceil(limits.poolMax * WRITERS_SHARE));
    this.#lanes = new KeyedSemaphore(Math.ceil(limits.poolMax * LANE_SHARE), limits.laneWaitingMax);
    this.#search = serverUrls(url).length > 1 ? new PrimarySearch(url, tls) : null;
    if (this.#search === null) this.#connections = this.#connect(url);
  }

  /**
   * Runs `work` with a connection of the pool. If the connection is lost soon after the start and before a
   * COMMIT was sent, retries `work` once with a new connection.
   */
  async use<T>(work: Work<T>, silenceMs = this.#limits.statementTimeoutMs + REPORT_MS): Promise<T> {
    const release = await this.#acquire(this.#permits);
    const startedMs = systemClock.elapsedMs();
    try {
      const first = await this.#attempt(work, silenceMs);
      const young = systemClock.elapsedMs() - startedMs < REPEAT_WITHIN_MS;
      const repeats = "lost" in first && first.repeatable && young;
      return resultOf(repeats ? await this.#attempt(work, silenceMs) : first);
    } finally {
      release();
    }
  }

  /**
   * Waits for a permit of the lane, if `lane` is set, and for a permit for writers. Runs `work` after that.
   */
  async writing<T>(lane: string | undefined, work: () => Promise<T>): Promise<T> {
    const leaveLane = lane === undefined ? () => {} : await this.#takeTurn(lane);
    try {
      const release = await this.#acquire(this.#writers);
      return await work().finally(release);
    } finally {
      leaveLane();
    }
  }

  /**
   * Waits for the permit of a stream. Streams hold connections for a long time, so they may use at most half
   * of the connections.
   */
  stream(): Promise<Release> {
    return this.#acquire(this.#streams);
  }

  /**
   * Opens all connections, so the first burst of requests does not wait for them. Rejects with the driver's
   * error.
   */
  async warm(): Promise<void> {
    await this.#settleSettings();
    const { sql } = await this.#connected();
    await Promise.all(Array.from({ length: this.#limits.poolMax }, () => sql.unsafe("select 1")));
  }

  /** Resolves if the server responds. Concurrent calls share one ping. */
  ping(): Promise<unknown> {
    this.#ping ??= this.#attempt(select1, this.#limits.statementTimeoutMs)
      .then(resultOf)
      .finally(() => {
        this.#ping = undefined;
      });
    return this.#ping;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connections?.end(REPORT_MS);
  }

  /**
   * Removes the settings that this server does not know. Turns off `transaction_timeout`, which PostgreSQL 17
   * and newer have, if the server sets it.
   */
  async #settleSettings(): Promise<void> {
    const before = await this.#connected();
    const select = "select name from pg_settings where name = 'transaction_timeout' and setting <> '0'";
    const set = await before.sql.unsafe(select).catch((error) => {
      if (isUnknownSetting(error)) return null;
      throw error;
    });
    if (set?.length === 0) return;
    this.#newerSettings = set === null ? {} : { ...this.#newerSettings, transaction_timeout: "0" };
    this.#connections = this.#connect(before.url);
    await before.end(REPORT_MS);
  }

  #acquire(permits: Semaphore): Promise<Release> {
    return permits.acquire(this.#limits.acquireTimeoutMs).catch(throwDatabaseFailure);
  }

  #takeTurn(lane: string): Promise<Release> {
    return this.#lanes.acquire(lane, this.#limits.laneTimeoutMs).catch(throwDatabaseFailure);
  }

  async #attempt<T>(work: Work<T>, silenceMs: number): Promise<Attempt<T>> {
    let connections: ConnectionSet;
    try {
      connections = await this.#connected();
    } catch (error) {
      throw databaseFailure(error);
    }
    const watchdog = connections.watch(silenceMs);
    try {
      return { result: await Promise.race([work(connections.sql, watchdog), watchdog.silence]) };
    } catch (error) {
      if (watchdog.lost && isConnectionLost(error)) {
        return { lost: error, repeatable: !watchdog.committing };
      }
      if (isReadOnly(error) && (await this.#leaveStandby(connections))) {
        return { lost: error, repeatable: true };
      }
      throw databaseFailure(error);
    } finally {
      watchdog.end();
      if (watchdog.lost) this.#replace(connections);
    }
  }

  /**
   * Replaces the connections. Work in flight on the old connections can finish, but no new work starts on
   * them.
   */
  #replace(lost: ConnectionSet): void {
    if (this.#connections !== lost || this.#closed) return;
    this.#connections = this.#search === null ? this.#connect(this.#url) : undefined;
    void lost.abandon(this.#limits.statementTimeoutMs + REPORT_MS);
  }

  #connected(): ConnectionSet | Promise<ConnectionSet> {
    if (this.#connections !== undefined) return this.#connections;
    this.#connecting ??= this.#find().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #find(): Promise<ConnectionSet> {
    const url = (await this.#search?.find()) ?? this.#url;
    const connections = this.#connect(url);
    this.#connections = connections;
    if (this.#closed) await connections.end(0);
    return connections;
  }

  /**
   * Returns whether a refused write means that the server is a standby. If so, replaces the connections,
   * because the host name may lead to another server now. Keeps the connections to a primary that an operator
   * has made read-only.
   */
  async #leaveStandby(connections: ConnectionSet): Promise<boolean> {
    if (connections.ageMs < STANDBY_PAUSE_MS) return false;
    try {
      const [row] = await connections.sql.unsafe("select pg_is_in_recovery() as standby");
      if (row?.standby !== true) return false;
    } catch {
      return false;
    }
    this.#replace(connections);
    return true;
  }

  #connect(url: string): ConnectionSet {
    const { poolMax, connectTimeoutMs, statementTimeoutMs, plan_cache_mode } = this.#limits;
    const search = this.#search;
    return new ConnectionSet(url, {
      connectionsMax: poolMax + 1,
      connectTimeoutMs,
      statementTimeoutMs,
      settings: { ...this.#newerSettings, plan_cache_mode },
      tls: this.#tls,
      primary: wantsPrimary(this.#url),
      wasReplaced: async () => search !== null && (await search.find(url).catch(() => url)) !== url,
    });
  }
}

type Work<T> = (sql: postgres.Sql, watchdog: Watchdog) => Promise<T>;

/** The outcome of an attempt: the result of the work, or the error that ended its connection. */
type Attempt<T> = { result: T } | { lost: unknown; repeatable: boolean };

function resultOf<T>(attempt: Attempt<T>): T {
  if ("lost" in attempt) throw new StoreUnavailable("database", attempt.lost);
  return attempt.result;
}

const select1: Work<unknown> = (sql, watchdog) => watchdog.follow(() => sql.unsafe("select 1"));
