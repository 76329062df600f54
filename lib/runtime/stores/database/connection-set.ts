import postgres from "postgres";
import { systemClock } from "../../../async/index.ts";
import type { PeerTls } from "../../config/index.ts";
import { answerWithin } from "../deadline.ts";
import { columnTypes } from "./column-types.ts";
import { type Backends, endBackends, isUnanswerable, readBackends } from "./lost-backends.ts";
import { ipv6Place } from "./primary-search.ts";
import { serverTls, TLS_PARAMETERS } from "./server-tls.ts";
import { sessionSettings, withoutSettings } from "./session-settings.ts";
import { type Question, Watchdog } from "./watchdog.ts";

export interface ConnectionSetOptions {
  connections_max: number;
  connect_timeout_ms: number;
  statement_timeout_ms: number;
  /** What a session is told beside what every session is. */
  settings: Record<string, string>;
  tls: PeerTls | undefined;
  /** A server that takes no writes is refused. */
  primary: boolean;
  /** Whether another server has taken the place of this one, which is silent. */
  wasReplaced(): Promise<boolean>;
}

/** Transactions that were left open, by a process that hangs, lose their locks after this. */
const IDLE_IN_TRANSACTION_MS = 60_000;
const RECONNECT_DELAY_SECONDS = 0.1;
/** A statement that was not answered for so long is looked into, and again as long as it is not. */
const SUSPICION_MS = 500;
/** Between two looks at what the server does: an answer that is on its way arrives meanwhile. */
const LOOKS_APART_MS = 100;
/** A server that lets nobody in, or does not answer there either, says nothing about older connections. */
const LOOK_TIMEOUT_MS = 1_500;

/**
 * Connections of postgres.js that are thrown away together. A connection over which nothing comes back any
 * more, after a failover or behind a router that forgot it, looks as if the server worked for long: which of
 * the two it is, the server is asked over a new one.
 */
export class ConnectionSet {
  readonly sql: postgres.Sql;
  readonly url: string;
  readonly #opened_ms = systemClock.elapsed_ms();
  readonly #options: ConnectionSetOptions;
  /** By this the server tells our connections from those of other sets, processes and pools. */
  readonly #name = `ostiary-${crypto.randomUUID().slice(0, 8)}`;
  readonly #suspects = new Set<Watchdog>();
  #looking = false;

  constructor(url: string, options: ConnectionSetOptions) {
    this.url = url;
    this.#options = options;
    this.sql = this.#connect(this.#name, options.connections_max, options.connect_timeout_ms);
  }

  get age_ms(): number {
    return systemClock.elapsed_ms() - this.#opened_ms;
  }

  /** A watchdog for work on these connections. */
  watch(silence_ms: number): Watchdog {
    return new Watchdog({
      silence_ms,
      suspicion_ms: SUSPICION_MS,
      onSuspicion: (watchdog) => {
        this.#suspects.add(watchdog);
        if (!this.#looking) void this.#lookWhileSuspicious();
      },
    });
  }

  /** Resolves when what is under way has ended, at most `timeout_ms` from now. */
  async end(timeout_ms: number): Promise<void> {
    await this.sql.end({ timeout: timeout_ms / 1000 });
  }

  /** As {@link end}, for connections that may be dead: the server is told that nobody is there any more. */
  async abandon(timeout_ms: number): Promise<void> {
    await this.end(timeout_ms);
    await this.#overNewConnection((sql) => endBackends(sql, this.#name)).catch(ignore);
  }

  async #lookWhileSuspicious(): Promise<void> {
    this.#looking = true;
    for (;;) {
      const looks = this.#overNewConnection((sql) => this.#look(sql)).catch(ignore);
      if (await this.#options.wasReplaced()) this.#leave();
      await looks;
      for (const suspect of this.#suspects) {
        if (suspect.suspicious().length === 0) this.#suspects.delete(suspect);
      }
      if (this.#suspects.size === 0) break;
      await Bun.sleep(SUSPICION_MS);
    }
    this.#looking = false;
  }

  #leave(): void {
    for (const suspect of this.#suspects) suspect.giveUp("Another server takes the writes now.");
  }

  async #look(sql: postgres.Sql): Promise<void> {
    const before = await readBackends(sql, this.#name);
    await Bun.sleep(LOOKS_APART_MS);
    const now = await readBackends(sql, this.#name);
    if (before === null || now === null) return;
    const dead = [...this.#suspects].flatMap((suspect) => {
      const questions = suspect.suspicious().filter((question) => isUnanswerable(question, before, now));
      return questions.length > 0 ? [{ suspect, pids: pidsOf(questions, now) }] : [];
    });
    for (const { suspect } of dead) suspect.lose();
    // before the work may be done again: it would wait for its own locks
    const pids = dead.flatMap((each) => each.pids);
    await endBackends(sql, this.#name, pids).catch(ignore);
    for (const { suspect } of dead) suspect.giveUp("Nothing comes back over this connection any more.");
  }

  async #overNewConnection<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const sql = this.#connect("ostiary-look", 1, LOOK_TIMEOUT_MS);
    try {
      return await answerWithin(LOOK_TIMEOUT_MS, "database", work(sql));
    } finally {
      await sql.end({ timeout: 0 });
    }
  }

  #connect(name: string, max: number, connect_timeout_ms: number): postgres.Sql {
    const { settings, statement_timeout_ms, tls } = this.#options;
    const connection: Record<string, string | number> = {
      ...sessionSettings,
      ...settings,
      application_name: name,
      statement_timeout: statement_timeout_ms,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    };
    const options = {
      ...ipv6Place(this.url),
      max,
      // keeps statements from queueing behind a slow one (not in the typings)
      max_pipeline: 1,
      connect_timeout: connect_timeout_ms / 1000,
      backoff: () => RECONNECT_DELAY_SECONDS,
      onnotice: () => {},
      // its query for the types of arrays rejects where nobody listens when the connection breaks meanwhile
      fetch_types: false,
      connection,
      types: columnTypes,
      ssl: serverTls(this.url, tls),
    };
    const primary: postgres.Options<typeof columnTypes> = this.#options.primary
      ? { target_session_attrs: "primary" }
      : {};
    return postgres(withoutSettings(this.url, { ...connection, ...TLS_PARAMETERS }), {
      ...options,
      ...primary,
    });
  }
}

function pidsOf(questions: Question[], backends: Backends): number[] {
  return questions.flatMap((question) => {
    const pid = question.backend_pid();
    return pid !== undefined && backends.has(pid) ? [pid] : [];
  });
}

/** Whoever waits for the statement gets its limits: a look that fails decides nothing. */
function ignore(): void {}
