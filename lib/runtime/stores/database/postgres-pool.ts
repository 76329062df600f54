import type postgres from "postgres";
import { KeyedSemaphore, type Release, Semaphore, systemClock } from "../../../async/index.ts";
import type { PeerTls } from "../../config/index.ts";
import { StoreUnavailable } from "../errors.ts";
import { ConnectionSet } from "./connection-set.ts";
import { databaseFailure, isConnectionLost, isReadOnly, throwDatabaseFailure } from "./failure.ts";
import { PrimarySearch, serverUrls, wantsPrimary } from "./primary-search.ts";
import { youngTimeouts } from "./session-settings.ts";
import type { Watchdog } from "./watchdog.ts";

export interface PostgresLimits {
  /** Connections that work at the same time; one more is kept for pings. */
  pool_max: number;
  /** Longest wait for a free connection. */
  acquire_timeout_ms: number;
  /** Transactions of one lane that may wait for their turn, and for how long. */
  lane_waiting_max: number;
  lane_timeout_ms: number;
  connect_timeout_ms: number;
  /** The server ends a statement after this long (`statement_timeout`). */
  statement_timeout_ms: number;
  /**
   * When the server may keep one plan for all values of a prepared statement (`plan_cache_mode`). Statements
   * whose best way depends on their values, such as pages of a large log, want `force_custom_plan`.
   */
  plan_cache_mode: "auto" | "force_custom_plan";
}

export const postgresLimits: PostgresLimits = {
  pool_max: 10,
  acquire_timeout_ms: 3_000,
  lane_waiting_max: 1_000,
  lane_timeout_ms: 15_000,
  connect_timeout_ms: 3_000,
  statement_timeout_ms: 10_000,
  plan_cache_mode: "auto",
};

/** Of the connections, those that transactions of one lane may have, and those that all writers may have. */
const LANE_SHARE = 0.2;
const WRITERS_SHARE = 0.7;
/** How long after `statement_timeout` a server must have reported it, before it counts as gone. */
const REPORT_MS = 1_000;
/** Work whose connection was lost is done again when it is not older than this: its caller still waits. */
const REPEAT_WITHIN_MS = 5_000;
/** Connections that lead to a standby are not made anew more often: whatever leads there may take a while to turn. */
const STANDBY_PAUSE_MS = 500;

/**
 * postgres.js with four things added: a limit on the wait for a connection, a limit on the wait for an
 * answer, a fresh set of connections after one was lost, and a second try of work that was lost with it. The
 * third is needed because a connection of postgres.js that broke with bytes unsent does not always recover, and
 * cannot be thrown away one by one; and where one went silent, the others did too.
 */
export class PostgresPool {
  readonly #limits: PostgresLimits;
  readonly #url: string;
  readonly #tls: PeerTls | undefined;
  readonly #permits: Semaphore;
  readonly #streams: Semaphore;
  readonly #writers: Semaphore;
  readonly #lanes: KeyedSemaphore;
  /** Limits of the database's own that are lifted for our sessions. */
  #timeouts: Record<string, string> = {};
  /** Which of several servers to connect to; null where there is one. */
  readonly #search: PrimarySearch | null;
  /** Undefined while it is not known where to. */
  #connections: ConnectionSet | undefined;
  #connecting: Promise<ConnectionSet> | undefined;
  #ping: Promise<unknown> | undefined;
  #closed = false;

  constructor(url: string, limits: PostgresLimits, tls?: PeerTls) {
    this.#url = url;
    this.#tls = tls;
    this.#limits = limits;
    this.#permits = new Semaphore(limits.pool_max);
    this.#streams = new Semaphore(Math.max(1, Math.floor(limits.pool_max / 2)));
    this.#writers = new Semaphore(Math.ceil(limits.pool_max * WRITERS_SHARE));
    this.#lanes = new KeyedSemaphore(Math.ceil(limits.pool_max * LANE_SHARE), limits.lane_waiting_max);
    this.#search = serverUrls(url).length > 1 ? new PrimarySearch(url, tls) : null;
    if (this.#search === null) this.#connections = this.#connect(url);
  }

  /**
   * Lends a connection's worth of the pool to `work`, for as long as it runs. When the connection is lost, and
   * no COMMIT was sent over it, `work` is done once more on a new one.
   */
  async use<T>(work: Work<T>, silence_ms = this.#limits.statement_timeout_ms + REPORT_MS): Promise<T> {
    const release = await this.#acquire(this.#permits);
    const started_ms = systemClock.elapsed_ms();
    try {
      const first = await this.#attempt(work, silence_ms);
      const young = systemClock.elapsed_ms() - started_ms < REPEAT_WITHIN_MS;
      const repeats = "lost" in first && first.repeatable && young;
      return resultOf(repeats ? await this.#attempt(work, silence_ms) : first);
    } finally {
      release();
    }
  }

  /** Runs `work` when it is the turn of one more writer, of this lane if one is given. */
  async writing<T>(lane: string | undefined, work: () => Promise<T>): Promise<T> {
    const leaveLane = lane === undefined ? () => {} : await this.#takeTurn(lane);
    try {
      const release = await this.#acquire(this.#writers);
      return await work().finally(release);
    } finally {
      leaveLane();
    }
  }

  /** Leave for one more stream: they keep a connection for long, and may have half of them at most. */
  stream(): Promise<Release> {
    return this.#acquire(this.#streams);
  }

  /** Opens every connection, so that the first burst does not wait for it; rejects with what the driver says. */
  async warm(): Promise<void> {
    await this.#liftTimeouts();
    const { sql } = await this.#connected();
    await Promise.all(Array.from({ length: this.#limits.pool_max }, () => sql.unsafe("select 1")));
  }

  /** Resolves when the server answers; a second call joins the first while that one waits. */
  ping(): Promise<unknown> {
    this.#ping ??= this.#attempt(select1, this.#limits.statement_timeout_ms)
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

  /** A server that does not know a setting refuses the session, so those of younger ones are asked for first. */
  async #liftTimeouts(): Promise<void> {
    const names = youngTimeouts.map((name) => `'${name}'`).join();
    const before = await this.#connected();
    const set = await before.sql.unsafe(
      `select name from pg_settings where name in (${names}) and setting <> '0'`,
    );
    if (set.length === 0) return;
    this.#timeouts = Object.fromEntries(set.map(({ name }) => [name, "0"]));
    this.#connections = this.#connect(before.url);
    await before.end(REPORT_MS);
  }

  #acquire(permits: Semaphore): Promise<Release> {
    return permits.acquire(this.#limits.acquire_timeout_ms).catch(throwDatabaseFailure);
  }

  #takeTurn(lane: string): Promise<Release> {
    return this.#lanes.acquire(lane, this.#limits.lane_timeout_ms).catch(throwDatabaseFailure);
  }

  async #attempt<T>(work: Work<T>, silence_ms: number): Promise<Attempt<T>> {
    let connections: ConnectionSet;
    try {
      connections = await this.#connected();
    } catch (error) {
      throw databaseFailure(error);
    }
    const watchdog = connections.watch(silence_ms);
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

  /** Work that other callers have under way on the old connections may finish; nothing new starts there. */
  #replace(lost: ConnectionSet): void {
    if (this.#connections !== lost || this.#closed) return;
    this.#connections = this.#search === null ? this.#connect(this.#url) : undefined;
    void lost.abandon(this.#limits.statement_timeout_ms + REPORT_MS);
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
   * Whether these connections, over which a write was refused, lead to a standby: what the name stands for may
   * have changed its mind meanwhile. An operator who closes a primary to writers is left alone.
   */
  async #leaveStandby(connections: ConnectionSet): Promise<boolean> {
    if (connections.age_ms < STANDBY_PAUSE_MS) return false;
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
    const { pool_max, connect_timeout_ms, statement_timeout_ms, plan_cache_mode } = this.#limits;
    const search = this.#search;
    return new ConnectionSet(url, {
      connections_max: pool_max + 1,
      connect_timeout_ms,
      statement_timeout_ms,
      settings: { ...this.#timeouts, plan_cache_mode },
      tls: this.#tls,
      primary: wantsPrimary(this.#url),
      wasReplaced: async () => search !== null && (await search.find(url).catch(() => url)) !== url,
    });
  }
}

type Work<T> = (sql: postgres.Sql, watchdog: Watchdog) => Promise<T>;

/** What came of work: its result, or the loss of its connection. */
type Attempt<T> = { result: T } | { lost: unknown; repeatable: boolean };

function resultOf<T>(attempt: Attempt<T>): T {
  if ("lost" in attempt) throw new StoreUnavailable("database", attempt.lost);
  return attempt.result;
}

const select1: Work<unknown> = (sql, watchdog) => watchdog.follow(() => sql.unsafe("select 1"));
