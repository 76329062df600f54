import { type Proxy as NetworkProxy, startProxy } from "../../support/proxy.ts";
import { answerOf } from "./replica.ts";

const PROBE_INTERVAL_MS = 200;
const PROBE_TIMEOUT_MS = 400;

/** A way to one replica, with the address of its readiness. */
export interface Door {
  readonly url: string;
  readonly ready_url: string;
}

/** A balancer that chooses among ready replicas in turn, or among all when none is ready. */
export class Balancer {
  readonly #doors: readonly Door[];
  readonly #ready: boolean[];
  readonly #probes: NodeJS.Timeout[];
  #turn = 0;

  constructor(doors: readonly Door[]) {
    this.#doors = doors;
    this.#ready = doors.map(() => true);
    this.#probes = doors.map(({ ready_url }, index) =>
      setInterval(async () => {
        this.#ready[index] = (await answerOf(ready_url, PROBE_TIMEOUT_MS)) === 200;
      }, PROBE_INTERVAL_MS),
    );
  }

  /** Returns the number and address of the next replica. */
  next(): { replica: number; url: string } {
    const all = this.#doors.map(({ url }, replica) => ({ replica, url }));
    const ready = all.filter(({ replica }) => this.#ready[replica]);
    const choice = ready.length > 0 ? ready : all;
    const next = choice[this.#turn++ % choice.length];
    if (next === undefined) throw new Error("There is no replica to choose from.");
    return next;
  }

  /** Listens on one address, where each connection leads to the next replica. */
  listen(): Promise<NetworkProxy> {
    return startProxy(() => this.next().url);
  }

  stop(): void {
    for (const probe of this.#probes) clearInterval(probe);
  }
}
