import type { Client } from "../clients.ts";
import type { Answer, Counted, Served } from "../record.ts";

/** An answer whose delay is not known until the processes are measured again. */
export type Seen = Omit<Answer, "delay_ms">;

/** A version that a gateway serves, with its delay not known either. */
export type SeenServed = Omit<Served, "delay_ms">;

/** The record of what clients see. */
export class Recorder {
  #answers: Seen[] = [];
  #served: SeenServed[] = [];
  readonly #underway = new Set<{ readonly started_ms: number }>();

  /** Records that a request is sent now. Returns a function that records its answer. */
  sends(client: Client, replica: number): (status: number | null, counted?: Counted) => void {
    const started_ms = performance.now();
    const request = { started_ms };
    this.#underway.add(request);
    return (status, counted) => {
      this.#underway.delete(request);
      const ended_ms = performance.now();
      this.saw({ client, replica, started_ms, ended_ms, status, ...(counted && { counted }) });
    };
  }

  saw(answer: Seen): void {
    this.#answers.push(answer);
  }

  sawServed(served: SeenServed): void {
    this.#served.push(served);
  }

  get answers(): readonly Seen[] {
    return this.#answers;
  }

  get served(): readonly SeenServed[] {
    return this.#served;
  }

  /** Returns whether the answer to a request from before that moment is still missing. */
  awaits(before_ms: number): boolean {
    return [...this.#underway].some(({ started_ms }) => started_ms < before_ms);
  }

  /** Takes what was seen since the last call. */
  take(): { answers: Seen[]; served: SeenServed[] } {
    const taken = { answers: this.#answers, served: this.#served };
    this.#answers = [];
    this.#served = [];
    return taken;
  }
}
