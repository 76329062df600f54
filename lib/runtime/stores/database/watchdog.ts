import { systemClock } from "../../../async/index.ts";
import { isRecord } from "../../../domain/json/index.ts";
import { ConnectionLost, isConnectionLost } from "./failure.ts";

interface WatchdogLimits {
  /** The time without a response after which the watchdog gives up the connection. */
  silenceMs: number;
  /**
   * The time without a response after which the watchdog calls `onSuspicion`, which can find out whether the
   * connection is dead.
   */
  suspicionMs: number;
  onSuspicion(watchdog: Watchdog): void;
}

/** A request that the server has not answered yet. */
export interface Question {
  askedAt: number;
  /** Whether a healthy server answers the request almost immediately, as it answers BEGIN. */
  quick: boolean;
  /** The approximate size of the request's parameters. */
  sizeBytes: number;
  /** Returns the id of the server process, or undefined while it is unknown. */
  backendPid(): number | undefined;
}

/**
 * Watches the statements of one unit of work. Its timer runs only while a statement is in flight. It rejects
 * further statements after the connection is lost or the work has ended.
 */
export class Watchdog {
  /** Rejects with `ConnectionLost` if the connection is given up while a statement is unanswered. */
  readonly silence: Promise<never>;
  readonly #limits: WatchdogLimits;
  readonly #bark: (error: ConnectionLost) => void;
  readonly #questions: Question[] = [];
  #cancelTimer: () => void = () => {};
  #backendPid: () => number | undefined = () => undefined;
  #ended = false;
  #lost = false;
  #committing = false;

  constructor(limits: WatchdogLimits) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.silence = promise;
    this.#limits = limits;
    this.#bark = reject;
  }

  /** Whether the connection is lost. */
  get lost(): boolean {
    return this.#lost;
  }

  /**
   * Whether a COMMIT was sent. If the connection is lost after the COMMIT, the outcome of the transaction is
   * unknown.
   */
  get committing(): boolean {
    return this.#committing;
  }

  /** Returns the requests that have been unanswered for at least `suspicionMs`. */
  suspicious(): Question[] {
    const before = systemClock.elapsedMs() - this.#limits.suspicionMs;
    return this.#ended ? [] : this.#questions.filter(({ askedAt }) => askedAt <= before);
  }

  /**
   * Records a request that the driver sends, such as BEGIN. The caller must call the returned function when
   * the server answers. Throws if the connection is lost or the work has ended.
   */
  ask(): () => void {
    return this.#ask({ quick: true, sizeBytes: 0, backendPid: this.#backendPid });
  }

  /** Records the COMMIT, like {@link ask}. */
  askToCommit(): () => void {
    const answered = this.ask();
    this.#committing = true;
    return answered;
  }

  /**
   * Sends a statement and records it until the server answers. `sizeBytes` is the size of its parameters.
   */
  follow<Statement extends PromiseLike<unknown>>(send: () => Statement, sizeBytes = 0): Statement {
    let sent: Statement | undefined;
    const backendPid = () => backendPidOf(sent);
    const answered = this.#ask({ quick: false, sizeBytes, backendPid });
    const statement = send();
    sent = statement;
    this.#backendPid = backendPid;
    statement.then(answered, (error) => {
      if (isConnectionLost(error)) this.lose();
      answered();
    });
    return statement;
  }

  /** Marks the connection as lost and rejects {@link silence}. */
  giveUp(reason: string): void {
    this.lose();
    this.#bark(new ConnectionLost(reason));
  }

  lose(): void {
    this.#lost = true;
    this.end();
  }

  end(): void {
    this.#ended = true;
    this.#cancelTimer();
  }

  #ask(asked: Omit<Question, "askedAt">): () => void {
    if (this.#lost) throw new ConnectionLost("The connection was lost before this statement.");
    if (this.#ended) throw new Error("A statement was sent after its unit of work had ended.");
    const question = { ...asked, askedAt: systemClock.elapsedMs() };
    this.#questions.push(question);
    this.#restart();
    return () => {
      const place = this.#questions.indexOf(question);
      if (place < 0) return;
      this.#questions.splice(place, 1);
      this.#restart();
    };
  }

  #restart(): void {
    this.#cancelTimer();
    if (this.#ended || this.#questions.length === 0) return;
    const { silenceMs, suspicionMs, onSuspicion } = this.#limits;
    const silent = () => this.giveUp(`The server did not answer within ${silenceMs} ms.`);
    const calmMs = Math.min(suspicionMs, silenceMs);
    this.#cancelTimer = systemClock.after(calmMs, () => {
      this.#cancelTimer = systemClock.after(silenceMs - calmMs, silent);
      onSuspicion(this);
    });
  }
}

/**
 * Returns the process id of the server process that runs a statement. postgres.js stores the id when it sends
 * the statement. Returns undefined before that.
 */
export function backendPidOf(statement: unknown): number | undefined {
  const state = isRecord(statement) ? statement.state : undefined;
  return isRecord(state) && typeof state.pid === "number" ? state.pid : undefined;
}
