import postgres from "postgres";
import { pause, systemClock } from "../../../async/index.ts";
import type { PeerTls } from "../../config/index.ts";
import { answerWithin } from "../answer-within.ts";
import { columnTypes } from "./column-types.ts";
import { type Backends, endBackends, isUnanswerable, readBackends } from "./lost-backends.ts";
import { ipv6Place } from "./primary-search.ts";
import { serverTls } from "./server-tls.ts";
import { sessionSettings, withoutSettings } from "./session-settings.ts";
import { type Question, Watchdog } from "./watchdog.ts";

interface ConnectionSetOptions {
  connectionsMax: number;
  connectTimeoutMs: number;
  statementTimeoutMs: number;
  /** The settings of each session, in addition to `sessionSettings`. */
  settings: Record<string, string>;
  tls: PeerTls | undefined;
  /** Whether to refuse a server that is not the primary. */
  primary: boolean;
  /**
   * Returns whether the server of these connections is no longer the primary, because another server replaced
   * it.
   */
  wasReplaced(): Promise<boolean>;
}

/** The timeout of an idle transaction. It releases the locks of a process that hangs. */
const IDLE_IN_TRANSACTION_MS = 60_000;
const RECONNECT_DELAY_SECONDS = 0.1;
/**
 * The time after which a statement without a response is suspicious. It is also the pause between checks
 * while a statement is suspicious.
 */
const SUSPICION_MS = 500;
/**
 * The pause between the two observations of a check. A response that is under way can arrive in this time.
 */
const OBSERVATION_PAUSE_MS = 100;
/** The timeout of a check. If a check times out, it proves nothing about older connections. */
const CHECK_TIMEOUT_MS = 1_500;

/**
 * A set of postgres.js connections that are discarded together. A connection can go silent after a failover,
 * or behind a router that dropped it. For a long time, a silent connection looks like a slow server. A check
 * over a new connection shows the difference.
 */
export class ConnectionSet {
  readonly sql: postgres.Sql;
  readonly url: string;
  readonly #openedMs = systemClock.elapsedMs();
  readonly #options: ConnectionSetOptions;
  /**
   * The application name by which the server distinguishes these connections from those of other sets and
   * processes.
   */
  readonly #name = `ostiary-${crypto.randomUUID().slice(0, 8)}`;
  readonly #suspects = new Set<Watchdog>();
  #isChecking = false;

  constructor(url: string, options: ConnectionSetOptions) {
    this.url = url;
    this.#options = options;
    this.sql = this.#connect(this.#name, options.connectionsMax, options.connectTimeoutMs);
  }

  get ageMs(): number {
    return systemClock.elapsedMs() - this.#openedMs;
  }

  /** Returns a watchdog for work on these connections. */
  watch(silenceMs: number): Watchdog {
    return new Watchdog({
      silenceMs,
      suspicionMs: SUSPICION_MS,
      onSuspicion: (watchdog) => {
        this.#suspects.add(watchdog);
        if (!this.#isChecking) void this.#checkWhileSuspicious();
      },
    });
  }

  /** Closes the connections when the work in flight has ended, or after `timeoutMs`. */
  async end(timeoutMs: number): Promise<void> {
    await this.sql.end({ timeout: timeoutMs / 1000 });
  }

  /** Closes connections that may be dead, like {@link end}, and then ends their server processes. */
  async abandon(timeoutMs: number): Promise<void> {
    await this.end(timeoutMs);
    await this.#overNewConnection((sql) => endBackends(sql, this.#name)).catch(ignore);
  }

  async #checkWhileSuspicious(): Promise<void> {
    this.#isChecking = true;
    for (;;) {
      const check = this.#overNewConnection((sql) => this.#check(sql)).catch(ignore);
      if (await this.#options.wasReplaced()) this.#leave();
      await check;
      for (const suspect of this.#suspects) {
        if (suspect.suspicious().length === 0) this.#suspects.delete(suspect);
      }
      if (this.#suspects.size === 0) break;
      await pause(systemClock, SUSPICION_MS);
    }
    this.#isChecking = false;
  }

  #leave(): void {
    for (const suspect of this.#suspects) suspect.giveUp("Another server is the primary now.");
  }

  async #check(sql: postgres.Sql): Promise<void> {
    const before = await readBackends(sql, this.#name);
    await pause(systemClock, OBSERVATION_PAUSE_MS);
    const now = await readBackends(sql, this.#name);
    if (before === null || now === null) return;
    const dead = [...this.#suspects].flatMap((suspect) => {
      const questions = suspect.suspicious().filter((question) => isUnanswerable(question, before, now));
      return questions.length > 0 ? [{ suspect, pids: pidsOf(questions, now) }] : [];
    });
    for (const { suspect } of dead) suspect.lose();
    // End the server processes before the retry. Otherwise, the retry would wait for the locks of the lost
    // attempt.
    const pids = dead.flatMap((each) => each.pids);
    await endBackends(sql, this.#name, pids).catch(ignore);
    for (const { suspect } of dead)
      suspect.giveUp("The server's answers no longer arrive over this connection.");
  }

  async #overNewConnection<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const sql = this.#connect("ostiary-look", 1, CHECK_TIMEOUT_MS);
    try {
      return await answerWithin(CHECK_TIMEOUT_MS, "database", work(sql));
    } finally {
      await sql.end({ timeout: 0 });
    }
  }

  #connect(name: string, max: number, connectTimeoutMs: number): postgres.Sql {
    const { settings, statementTimeoutMs, tls } = this.#options;
    const connection: Record<string, string | number> = {
      ...sessionSettings,
      ...settings,
      application_name: name,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    };
    const options = {
      ...ipv6Place(this.url),
      max,
      // A new statement must not queue behind a slow one. The typings lack this option.
      max_pipeline: 1,
      connect_timeout: connectTimeoutMs / 1000,
      backoff: () => RECONNECT_DELAY_SECONDS,
      onnotice: () => {},
      // The driver's query for array types would cause an unhandled rejection if its connection breaks.
      fetch_types: false,
      connection,
      types: columnTypes,
      ssl: serverTls(this.url, tls),
    };
    const primary: postgres.Options<typeof columnTypes> = this.#options.primary
      ? { target_session_attrs: "primary" }
      : {};
    return postgres(withoutSettings(this.url, connection), {
      ...options,
      ...primary,
    });
  }
}

function pidsOf(questions: Question[], backends: Backends): number[] {
  return questions.flatMap((question) => {
    const pid = question.backendPid();
    return pid !== undefined && backends.has(pid) ? [pid] : [];
  });
}

/** Ignores a failed check: the connections count as alive, and their statements still have a timeout. */
function ignore(): void {}
