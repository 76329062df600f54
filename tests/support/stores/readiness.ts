/** The times of readiness checks. */
export interface CheckTimes {
  /** The interval between two checks of a member. */
  readonly intervalMs: number;
  /** The time after which a check has no response. */
  readonly timeoutMs: number;
  /** The age at which the last check says too little: this process was too busy for the checks after it. */
  readonly oldMs: number;
}

/**
 * The number of consecutive checks without a response after which a member counts as not ready. One such check
 * says little on a busy machine: this process may have been too busy to read the response.
 */
const UNANSWERED_MAX = 3;

interface Checked<Member> {
  readonly member: Member;
  isReady: boolean;
  unanswered: number;
  /** The check in flight. */
  checking: Promise<void> | null;
  /** The time at which the last completed check was sent. */
  checkedMs: number;
}

/** The members of a load balancer, whose readiness it checks again and again. */
export class Readiness<Member> {
  readonly #urlOf: (member: Member) => string;
  readonly #times: CheckTimes;
  readonly #members: Checked<Member>[] = [];
  readonly #timer: NodeJS.Timeout;

  /** @param urlOf returns the URL of a member's readiness check */
  constructor(urlOf: (member: Member) => string, times: CheckTimes) {
    this.#urlOf = urlOf;
    this.#times = times;
    this.#timer = setInterval(
      () => void Promise.all(this.#members.map((each) => this.#check(each))),
      times.intervalMs,
    );
  }

  add(member: Member, isReady: boolean): void {
    this.#members.push({ member, isReady, unanswered: 0, checking: null, checkedMs: performance.now() });
  }

  remove(member: Member): void {
    const index = this.#members.findIndex((each) => each.member === member);
    if (index >= 0) this.#members.splice(index, 1);
  }

  /** The members that were ready at their last check. */
  get ready(): Member[] {
    return this.#members.filter(({ isReady }) => isReady).map(({ member }) => member);
  }

  /**
   * Returns the members that are ready now. After a stall of this process, it checks the ready members first,
   * because they may have stopped in the meantime. If no member is ready, it checks all of them.
   */
  async readyNow(): Promise<Member[]> {
    for (;;) {
      const { ready } = this;
      const oldMs = performance.now() - this.#times.oldMs;
      const old = this.#members.filter(
        ({ isReady, checkedMs }) => checkedMs < oldMs && (isReady || ready.length === 0),
      );
      if (old.length === 0) return ready;
      await Promise.all(old.map((each) => this.#check(each)));
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Checks a member, or waits for the check in flight. */
  #check(checked: Checked<Member>): Promise<void> {
    checked.checking ??= this.#ask(checked).finally(() => {
      checked.checking = null;
    });
    return checked.checking;
  }

  async #ask(checked: Checked<Member>): Promise<void> {
    const sentMs = performance.now();
    const isReady = await answerOf(this.#urlOf(checked.member), this.#times.timeoutMs);
    checked.checkedMs = sentMs;
    checked.unanswered = isReady === null ? checked.unanswered + 1 : 0;
    if (isReady !== null) checked.isReady = isReady;
    else if (checked.unanswered >= UNANSWERED_MAX) checked.isReady = false;
  }
}

/** Returns whether a member says that it is ready. Returns null if there is no response in time. */
async function answerOf(url: string, timeoutMs: number): Promise<boolean | null> {
  try {
    return (await fetch(url, { keepalive: false, signal: AbortSignal.timeout(timeoutMs) })).ok;
  } catch (error) {
    return error instanceof Error && error.name === "TimeoutError" ? null : false;
  }
}
