import type { Client } from "../clients.ts";
import type { Answer, Counted, Served } from "../record.ts";

/** An answer whose delay is not known before the processes have been looked at again. */
export type Seen = Omit<Answer, "delay_ms">;

/** The same for what a gateway serves. */
export type SeenServed = Omit<Served, "delay_ms">;

/** Where clients put down what they see. */
export class Recorder {
  #answers: Seen[] = [];
  #served: SeenServed[] = [];
  readonly #underway = new Set<{ readonly started_ms: number }>();

  /** A request is sent now; what is given back records its answer. */
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

  /** Whether the answer to a request that was sent before that moment has yet to come. */
  awaits(before_ms: number): boolean {
    return [...this.#underway].some(({ started_ms }) => started_ms < before_ms);
  }

  /** What was seen since the last time. */
  take(): { answers: Seen[]; served: SeenServed[] } {
    const taken = { answers: this.#answers, served: this.#served };
    this.#answers = [];
    this.#served = [];
    return taken;
  }
}
