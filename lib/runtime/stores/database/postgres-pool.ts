import type { SQL } from "drizzle-orm";
import {
  KeyedSemaphore,
  pause,
  type Release,
  Semaphore,
  systemClock,
  withDeadline,
} from "../../../async/index.ts";
import type { PeerTls } from "../../config/index.ts";
import { StoreUnavailable } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { Connector } from "./connector.ts";
import type { Database, RunOptions, TransactionOptions } from "./database.ts";
import { Deadline } from "./deadline.ts";
import {
  ConnectionLost,
  databaseFailure,
  isReadOnly,
  isRefusedSession,
  isRepeatable,
  throwDatabaseFailure,
} from "./failure.ts";
import type { MigrationAccess } from "./migrations.ts";
import type { DatabaseAdapter } from "./observed-database.ts";
import { type Orm, rows } from "./orm.ts";
import { poolSettings, setTimeouts } from "./session-settings.ts";
import { streamCursor } from "./stream-cursor.ts";
import { asUnitOfWork, ormOver, transact, type UnitOfWork } from "./unit-of-work.ts";
import { refuseUnusableSessions, UnusableSession } from "./usable-sessions.ts";

export interface PostgresLimits {
  /** The number of connections for work. Pings use one more connection. */
  poolMax: number;
  /** The maximum number of transactions that wait in one lane. */
  laneWaitingMax: number;
  /** The deadline of a call, unless the call has its own; see `CallOptions`. */
  deadlineMs: number | "progress";
  /** The deadline of a call with a lane, which includes the wait for its turn (RG-53, ID-104). */
  laneDeadlineMs: number;
  /** The longest time without a response for work in the background. It is also the server's `statement_timeout`. */
  progressMs: number;
  /** The server's `plan_cache_mode`. `force_custom_plan` is for statements whose best plan depends on the values. */
  plan_cache_mode: "auto" | "force_custom_plan";
}

export const postgresLimits: PostgresLimits = {
  poolMax: 10,
  laneWaitingMax: 1_000,
  deadlineMs: 5_000,
  laneDeadlineMs: 15_000,
  progressMs: 10_000,
  plan_cache_mode: "auto",
};

const LANE_SHARE = 0.2;
const WRITERS_SHARE = 0.7;
const PING_MS = 1_000;
/** The pauses between two attempts to connect while the store is unavailable. */
const RECONNECT_MS = 50;
const RECONNECT_MS_MAX = 1_000;
/** The age at which a connection is replaced, so that a changed address is followed. */
const LIFETIME_MS = 1_800_000;
const CLOSE_MS = 1_000;
/** The time for each statement of a migration, which may rebuild a table. */
const MIGRATION_STATEMENT_MS = 600_000;
/** The time for an index build, which does not block writers. */
const BUILD_MS = 3_600_000;

type Work<T> = (connection: Connection) => Promise<T>;

/**
 * When a call reaches its deadline, the pool discards the call's connection, and pings the server over a new one. If
 * the ping succeeds, idle connections that do not respond to a ping are discarded too. If it fails, the store is
 * unavailable: calls fail at once until a new connection succeeds.
 */
export class PostgresPool implements DatabaseAdapter {
  readonly #limits: PostgresLimits;
  readonly #connector: Connector;
  readonly #permits: Semaphore;
  readonly #streams: Semaphore;
  readonly #writers: Semaphore;
  readonly #lanes: KeyedSemaphore;
  #idle: Connection[] = [];
  readonly #busy = new Set<Connection>();
  readonly #waiting = new Set<PromiseWithResolvers<Connection>>();
  #opening = 0;
  /** The connections whose server processes must be ended, because they may hold locks. */
  #lost: Connection[] = [];
  #check: Promise<void> | undefined;
  #unavailable: { cause: unknown } | undefined;
  #closed = false;

  constructor(url: string, limits: PostgresLimits, tls?: PeerTls) {
    this.#limits = limits;
    this.#permits = new Semaphore(limits.poolMax);
    this.#streams = new Semaphore(Math.max(1, Math.floor(limits.poolMax / 2)));
    this.#writers = new Semaphore(Math.ceil(limits.poolMax * WRITERS_SHARE));
    this.#lanes = new KeyedSemaphore(Math.ceil(limits.poolMax * LANE_SHARE), limits.laneWaitingMax);
    this.#connector = new Connector(url, poolSettings(limits.plan_cache_mode, limits.progressMs), tls);
  }

  deadline({ deadlineMs, lane }: RunOptions): Deadline {
    const { deadlineMs: usualMs, laneDeadlineMs, progressMs } = this.#limits;
    const ms = deadlineMs ?? (lane === undefined ? usualMs : laneDeadlineMs);
    return ms === "progress" ? progressDeadline(progressMs) : new Deadline({ ms, ofProgress: false });
  }

  run<T>(deadline: Deadline, work: (orm: Orm) => Promise<T>): Promise<T> {
    return this.#use(deadline, (unit) => work(ormOver(unit)));
  }

  transact<T>(deadline: Deadline, work: (tx: Orm) => Promise<T>, options: TransactionOptions): Promise<T> {
    return this.#use(deadline, (unit) => transact(unit, work, options));
  }

  /** Runs `work` with a permit of the lane, if `lane` is set, and one for writers. */
  async inTurn<T>(
    deadline: Deadline,
    { lane, readOnly }: TransactionOptions,
    work: () => Promise<T>,
  ): Promise<T> {
    if (readOnly) return work();
    const leaveLane =
      lane === undefined
        ? () => {}
        : await this.#lanes.acquire(lane, deadline.remainingMs()).catch(throwDatabaseFailure);
    try {
      const release = await this.#acquire(this.#writers, deadline);
      return await work().finally(release);
    } finally {
      leaveLane();
    }
  }

  /** Streams hold connections for long, so they may use at most half of them. */
  async *stream<Row>(
    database: Database,
    operation: string,
    statement: SQL,
    batchRows: number,
  ): AsyncGenerator<Row[], void, void> {
    const release = await this.#acquire(this.#streams, this.deadline({}));
    try {
      yield* streamCursor<Row>(database, operation, statement, batchRows);
    } finally {
      release();
    }
  }

  get migrations(): MigrationAccess {
    return {
      transaction: (work, lockMs = 0) =>
        this.#use(progressDeadline(MIGRATION_STATEMENT_MS), (unit) =>
          transact(unit, async (tx) => {
            await rows(tx, setTimeouts(MIGRATION_STATEMENT_MS, lockMs, true));
            return work(tx);
          }),
        ),
      outside: (work) =>
        this.#use(progressDeadline(BUILD_MS), async (unit) => {
          const orm = ormOver(unit);
          try {
            await rows(orm, setTimeouts(BUILD_MS, 0, false));
            return await work(orm);
          } finally {
            // The end of the session resets its settings, and releases its advisory locks.
            await unit.connection.end();
          }
        }),
    };
  }

  /** Opens all connections, so the first burst of requests does not wait for them. */
  async warm(): Promise<void> {
    const first = await this.#connector.open();
    this.#offer(first);
    const few = (error: unknown) => {
      if (!first.isPooled || !(error instanceof ConnectionLost)) throw error;
      throw new UnusableSession(
        `The pooler at {server} (DATABASE_URL) does not open the ${this.#limits.poolMax} sessions of this pool: raise its default_pool_size and max_client_conn.`,
      );
    };
    await refuseUnusableSessions(first, () => this.#connector.open()).catch(few);
    const others = Array.from({ length: this.#limits.poolMax - 1 }, () => this.#connector.open());
    for (const opened of await Promise.allSettled(others)) {
      if (opened.status === "fulfilled") this.#offer(opened.value);
    }
    await Promise.all(others).catch(few);
  }

  async ping(timeoutMs: number): Promise<void> {
    const deadline = this.deadline({ deadlineMs: timeoutMs });
    try {
      await this.#attempt(deadline, selectOne);
    } catch (error) {
      throw databaseFailure(error);
    } finally {
      deadline.end();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting) waiter.reject(new ConnectionLost("The database is closed."));
    await Promise.all(this.#idle.splice(0).map((connection) => connection.end()));
    const ended = Array.from({ length: this.#limits.poolMax }, () => this.#permits.acquire(CLOSE_MS));
    await Promise.allSettled(ended);
  }

  /** Runs `work`, and once more over another connection if its connection is lost before a COMMIT was sent. */
  async #use<T>(deadline: Deadline, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const release = await this.#acquire(this.#permits, deadline);
    const attempt = () => this.#attempt(deadline, (connection) => asUnitOfWork(connection, deadline, work));
    try {
      return await attempt().catch((error) => {
        if (deadline.isOver || !isRepeatable(error)) throw error;
        return attempt();
      });
    } catch (error) {
      throw databaseFailure(error);
    } finally {
      release();
    }
  }

  #acquire(permits: Semaphore, deadline: Deadline): Promise<Release> {
    if (this.#closed) return Promise.reject(closedPool());
    return permits.acquire(deadline.remainingMs()).catch(throwDatabaseFailure);
  }

  async #attempt<T>(deadline: Deadline, work: Work<T>): Promise<T> {
    const connection = await this.#take(deadline);
    this.#busy.add(connection);
    try {
      return await Promise.race([work(connection), deadline.passed]);
    } catch (error) {
      // The host name may lead to another server now. A primary that an operator made read-only stays.
      if (isReadOnly(error) && connection.session.standby) connection.discard();
      if (deadline.isOver) connection.discard();
      if (!connection.isOpen) this.#doubt(connection);
      throw error;
    } finally {
      this.#busy.delete(connection);
      this.#offer(connection);
    }
  }

  async #take(deadline: Deadline): Promise<Connection> {
    if (this.#unavailable !== undefined) throw new StoreUnavailable("database", this.#unavailable.cause);
    if (this.#closed) throw closedPool();
    for (let found = this.#idle.pop(); found !== undefined; found = this.#idle.pop()) {
      if (found.isOpen && this.#connector.isCurrent(found)) return found;
      found.discard();
    }
    const waiter = Promise.withResolvers<Connection>();
    this.#waiting.add(waiter);
    if (this.#opening < this.#waiting.size) void this.#open();
    try {
      return await Promise.race([waiter.promise, deadline.passed]);
    } catch (error) {
      waiter.promise.then((late) => this.#offer(late)).catch(() => {}); // `error` says why there is none
      throw new StoreUnavailable("database", error);
    } finally {
      this.#waiting.delete(waiter);
    }
  }

  /** Opens a connection for the caller that waits longest, who may have left by then. */
  async #open(): Promise<void> {
    this.#opening += 1;
    const opened = await this.#connector.open().then(
      (connection) => ({ connection }),
      (error) => ({ error }),
    );
    this.#opening -= 1;
    if ("connection" in opened) {
      this.#offer(opened.connection);
      return;
    }
    const [waiter] = this.#waiting;
    waiter?.reject(opened.error);
    if (!isRefusedSession(opened.error)) this.#doubt();
  }

  /** Passes a connection on to the caller that waits longest, or keeps it. */
  #offer(connection: Connection): void {
    if (!connection.isOpen) return;
    if (!this.#connector.isCurrent(connection)) {
      void connection.end();
      return;
    }
    const isOld = systemClock.elapsedMs() - connection.openedMs > LIFETIME_MS;
    const [waiter] = this.#waiting;
    if (waiter !== undefined) {
      this.#waiting.delete(waiter);
      waiter.resolve(connection);
    } else if (this.#closed || isOld || this.#idle.length > this.#limits.poolMax) {
      void connection.end();
    } else {
      this.#idle.push(connection);
    }
  }

  #doubt(connection?: Connection): void {
    if (connection !== undefined) this.#lost.push(connection);
    this.#check ??= this.#checkServer().finally(() => {
      this.#check = undefined;
      if (this.#lost.length > 0 && !this.#closed) this.#doubt();
    });
  }

  async #checkServer(): Promise<void> {
    const suspects = this.#idle.splice(0);
    const busy = [...this.#busy];
    for (let pauseMs = RECONNECT_MS; !this.#closed; pauseMs = Math.min(2 * pauseMs, RECONNECT_MS_MAX)) {
      const failure = await this.#endLost().then(
        () => undefined,
        (error) => error ?? new ConnectionLost("No response."),
      );
      const isAway = failure !== undefined && !isRefusedSession(failure);
      if (isAway) this.#leave(failure, suspects);
      else this.#unavailable = undefined;
      const alive = await Promise.all(suspects.splice(0).map((suspect) => this.#offerIfAlive(suspect)));
      // If no idle connection responds, those in use do not either: their calls fail, or are repeated.
      if (alive.length > 0 && !alive.includes(true)) for (const connection of busy) connection.discard();
      if (failure === undefined) return;
      await pause(systemClock, pauseMs);
    }
  }

  /** Ends the server processes of lost connections over a new connection, which proves that the server responds. */
  async #endLost(): Promise<void> {
    const connection = await this.#connector.open();
    const lost = this.#lost.splice(0);
    try {
      const ended = connection.send(endSessions(lost));
      await withDeadline(ended, PING_MS, () => new ConnectionLost("The server did not respond to a ping."));
      this.#offer(connection);
    } catch (error) {
      connection.discard();
      this.#lost.push(...lost);
      throw error;
    }
  }

  async #offerIfAlive(connection: Connection): Promise<boolean> {
    try {
      await withDeadline(selectOne(connection), PING_MS, () => new ConnectionLost("No response to a ping."));
      this.#offer(connection);
      return true;
    } catch {
      connection.discard();
      this.#lost.push(connection);
      return false;
    }
  }

  #leave(cause: unknown, suspects: Connection[]): void {
    this.#unavailable = { cause };
    const left = [...suspects.splice(0), ...this.#idle.splice(0)];
    for (const connection of left) connection.discard();
    this.#lost.push(...left);
    for (const waiter of this.#waiting) waiter.reject(cause);
  }
}

function progressDeadline(ms: number): Deadline {
  return new Deadline({ ms, ofProgress: true });
}

function closedPool(): StoreUnavailable {
  return new StoreUnavailable("database", new Error("The database is closed."));
}

const selectOne: Work<unknown> = (connection) => connection.send({ text: "select 1" });

/** Returns the statement that ends the server processes of lost connections. They may hold locks for hours. */
function endSessions(lost: readonly Connection[]) {
  const sessions = lost.map(({ session }) => `(${session.pid}, '${session.since}')`);
  const which = sessions.length === 0 ? "false" : `(pid, backend_start::text) in (${sessions.join()})`;
  return { text: `select pg_terminate_backend(pid) from pg_stat_activity where ${which}` };
}
