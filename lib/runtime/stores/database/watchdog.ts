import { systemClock } from "../../../async/index.ts";
import { ConnectionLost, isConnectionLost } from "./failure.ts";

export interface WatchdogLimits {
  /** A statement that stays unanswered for so long ends the work. */
  silence_ms: number;
  /** After so long `onSuspicion` is told, whose part it is to find out whether the connection is dead. */
  suspicion_ms: number;
  onSuspicion(watchdog: Watchdog): void;
}

/** Something that the server was asked and has not answered. */
export interface Question {
  asked_at: number;
  /** It takes no time, as BEGIN does. */
  quick: boolean;
  /** What travels with it, about. */
  size_bytes: number;
  /** The server's process that was asked; undefined while that is not known. */
  backend_pid(): number | undefined;
}

/**
 * Watches over the statements of one unit of work: runs a timer while some are under way, none while the work
 * itself thinks. Once the connection was lost, or the work ended, no further statement is let through.
 */
export class Watchdog {
  /** Rejects with `ConnectionLost` when the connection is given up while a statement is unanswered. */
  readonly silence: Promise<never>;
  readonly #limits: WatchdogLimits;
  readonly #bark: (error: ConnectionLost) => void;
  readonly #questions: Question[] = [];
  #cancelTimer: () => void = () => {};
  #backend_pid: () => number | undefined = () => undefined;
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

  /** Whether the connection can no longer be trusted. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Whether a COMMIT was sent, so that nobody knows what was done when the connection is lost. */
  get committing(): boolean {
    return this.#committing;
  }

  /** What has stayed unanswered for long enough to be suspicious. */
  suspicious(): Question[] {
    const before = systemClock.elapsed_ms() - this.#limits.suspicion_ms;
    return this.#ended ? [] : this.#questions.filter(({ asked_at }) => asked_at <= before);
  }

  /**
   * Announces that the driver sends a BEGIN or the like of its own; call the result when it was answered. Throws
   * when the work has ended.
   */
  ask(): () => void {
    return this.#ask({ quick: true, size_bytes: 0, backend_pid: this.#backend_pid });
  }

  /** As {@link ask}, for the COMMIT. */
  askToCommit(): () => void {
    const answered = this.ask();
    this.#committing = true;
    return answered;
  }

  /** Follows a statement of the driver, with parameters of `size_bytes`, until it is answered. */
  follow<Statement extends PromiseLike<unknown>>(send: () => Statement, size_bytes = 0): Statement {
    let sent: Statement | undefined;
    const backend_pid = () => backendPid(sent);
    const answered = this.#ask({ quick: false, size_bytes, backend_pid });
    const statement = send();
    sent = statement;
    this.#backend_pid = backend_pid;
    statement.then(answered, (error) => {
      if (isConnectionLost(error)) this.lose();
      answered();
    });
    return statement;
  }

  /** Gives the connection up. */
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

  #ask(asked: Omit<Question, "asked_at">): () => void {
    if (this.#lost) throw new ConnectionLost("The connection was lost before this statement.");
    if (this.#ended) throw new Error("A statement was sent after its unit of work had ended.");
    const question = { ...asked, asked_at: systemClock.elapsed_ms() };
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
    const { silence_ms, suspicion_ms, onSuspicion } = this.#limits;
    const silent = () => this.giveUp(`The server did not answer within ${silence_ms} ms.`);
    const calm_ms = Math.min(suspicion_ms, silence_ms);
    this.#cancelTimer = systemClock.after(calm_ms, () => {
      this.#cancelTimer = systemClock.after(silence_ms - calm_ms, silent);
      onSuspicion(this);
    });
  }
}

/** The process that serves a statement of postgres.js, which notes it when it sends the statement. */
export function backendPid(statement: unknown): number | undefined {
  if (typeof statement !== "object" || statement === null || !("state" in statement)) return undefined;
  const { state } = statement;
  if (typeof state !== "object" || state === null || !("pid" in state)) return undefined;
  return typeof state.pid === "number" ? state.pid : undefined;
}
