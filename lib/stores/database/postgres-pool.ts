import postgres from "postgres";
import { StoreUnavailable } from "../errors.ts";
import { columnTypes } from "./column-types.ts";
import { databaseFailure, isConnectionLost, throwDatabaseFailure } from "./failure.ts";
import { Lanes, Permits } from "./permits.ts";
import { sessionSettings, withoutSettings, youngTimeouts } from "./session-settings.ts";
import { Watchdog } from "./watchdog.ts";

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
/** Transactions that were left open, by a process that hangs, lose their locks after this. */
const IDLE_IN_TRANSACTION_MS = 60_000;
const RECONNECT_DELAY_SECONDS = 0.1;

/**
 * postgres.js with three things added: a limit on the wait for a connection, a limit on the wait for an
 * answer, and a fresh set of connections after one was lost. The last is needed because a connection of
 * postgres.js that broke with bytes unsent does not always recover, and cannot be thrown away one by one.
 */
export class PostgresPool {
  readonly limits: PostgresLimits;
  readonly #url: string;
  readonly #permits: Permits;
  readonly #streams: Permits;
  readonly #writers: Permits;
  readonly #lanes: Lanes;
  /** Limits of the database's own that are lifted for our sessions. */
  #timeouts: Record<string, string> = {};
  #sql: postgres.Sql;
  #ping: Promise<unknown> | undefined;
  #closed = false;

  constructor(url: string, limits: PostgresLimits) {
    this.#url = url;
    this.limits = limits;
    this.#permits = new Permits(limits.pool_max);
    this.#streams = new Permits(Math.max(1, Math.floor(limits.pool_max / 2)));
    this.#writers = new Permits(Math.ceil(limits.pool_max * WRITERS_SHARE));
    this.#lanes = new Lanes(Math.ceil(limits.pool_max * LANE_SHARE), limits.lane_waiting_max);
    this.#sql = connect(url, limits, this.#timeouts);
  }

  /** Lends a connection's worth of the pool to `work`, for as long as it runs. */
  async use<T>(
    work: (sql: postgres.Sql, watchdog: Watchdog) => Promise<T>,
    silence_ms = this.limits.statement_timeout_ms + REPORT_MS,
  ): Promise<T> {
    const release = await this.#acquire(this.#permits);
    const sql = this.#sql;
    const watchdog = new Watchdog(silence_ms);
    try {
      return await Promise.race([work(sql, watchdog), watchdog.silence]);
    } catch (error) {
      const lost = watchdog.lost && isConnectionLost(error);
      throw lost ? new StoreUnavailable("database", error) : databaseFailure(error);
    } finally {
      watchdog.end();
      if (watchdog.lost) this.#replace(sql);
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
  stream(): Promise<() => void> {
    return this.#acquire(this.#streams);
  }

  /** Opens every connection, so that the first burst does not wait for it. */
  async warm(): Promise<void> {
    await this.#liftTimeouts();
    const sql = this.#sql;
    const opened = Array.from({ length: this.limits.pool_max }, () => sql.unsafe("select 1"));
    for (const result of await Promise.allSettled(opened)) {
      if (result.status === "rejected") throw new StoreUnavailable("database", result.reason);
    }
  }

  /** Resolves when the server answers; a second call joins the first while that one waits. */
  ping(): Promise<unknown> {
    this.#ping ??= this.#select1().finally(() => {
      this.#ping = undefined;
    });
    return this.#ping;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sql.end({ timeout: REPORT_MS / 1000 });
  }

  /** A server that does not know a setting refuses the session, so those of younger ones are asked for first. */
  async #liftTimeouts(): Promise<void> {
    const sql = this.#sql;
    const names = youngTimeouts.map((name) => `'${name}'`).join();
    const set = await sql
      .unsafe(`select name from pg_settings where name in (${names}) and setting <> '0'`)
      .catch((error) => {
        throw new StoreUnavailable("database", error);
      });
    if (set.length === 0) return;
    this.#timeouts = Object.fromEntries(set.map(({ name }) => [name, "0"]));
    this.#replace(sql);
  }

  #acquire(permits: Permits): Promise<() => void> {
    return permits.acquire(this.limits.acquire_timeout_ms).catch(throwDatabaseFailure);
  }

  #takeTurn(lane: string): Promise<() => void> {
    return this.#lanes.acquire(lane, this.limits.lane_timeout_ms).catch(throwDatabaseFailure);
  }

  async #select1(): Promise<void> {
    const sql = this.#sql;
    const watchdog = new Watchdog(this.limits.statement_timeout_ms);
    try {
      await Promise.race([watchdog.follow(() => sql.unsafe("select 1")), watchdog.silence]);
    } catch (error) {
      throw new StoreUnavailable("database", error);
    } finally {
      watchdog.end();
      if (watchdog.lost) this.#replace(sql);
    }
  }

  /** Work that other callers have under way on the old connections may finish; nothing new starts there. */
  #replace(lost: postgres.Sql): void {
    if (this.#sql !== lost || this.#closed) return;
    this.#sql = connect(this.#url, this.limits, this.#timeouts);
    void lost.end({ timeout: (this.limits.statement_timeout_ms + REPORT_MS) / 1000 });
  }
}

function connect(url: string, limits: PostgresLimits, timeouts: Record<string, string>): postgres.Sql {
  const connection: Record<string, string | number> = {
    application_name: "ostiary",
    ...sessionSettings,
    ...timeouts,
    statement_timeout: limits.statement_timeout_ms,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    plan_cache_mode: limits.plan_cache_mode,
  };
  const options = {
    max: limits.pool_max + 1,
    // keeps statements from queueing behind a slow one (not in the typings)
    max_pipeline: 1,
    connect_timeout: limits.connect_timeout_ms / 1000,
    backoff: () => RECONNECT_DELAY_SECONDS,
    onnotice: () => {},
    // its query for the types of arrays rejects where nobody listens when the connection breaks meanwhile
    fetch_types: false,
    connection,
    types: columnTypes,
  };
  return postgres(withoutSettings(url, connection), options);
}
