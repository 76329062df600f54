import { type Proxy as NetworkProxy, startProxy } from "../../../support/http/proxy.ts";
import { type CheckTimes, Readiness } from "../../../support/stores/readiness.ts";

const TIMES: CheckTimes = { intervalMs: 200, timeoutMs: 400, oldMs: 1_000 };

/** A replica behind a balancer: its URL, and the URL of its readiness probe. */
export interface Door {
  readonly url: string;
  readonly readyUrl: string;
}

/** The choice of a balancer: the index and URL of a replica. */
interface Choice {
  readonly replica: number;
  readonly url: string;
}

/** A round-robin load balancer. It skips replicas that are not ready, unless no replica is ready. */
export class Balancer {
  readonly #doors: readonly Door[];
  readonly #readiness = new Readiness<Door>(({ readyUrl }) => readyUrl, TIMES);
  #turn = 0;

  constructor(doors: readonly Door[]) {
    this.#doors = doors;
    for (const door of doors) this.#readiness.add(door, true);
  }

  /** Returns the next replica. */
  async next(): Promise<Choice> {
    return this.#choice(await this.#readiness.readyNow());
  }

  /** Returns whether the balancer knows that a replica is ready. */
  knowsReady(replica: number): boolean {
    return this.#readiness.ready.some((door) => door === this.#doors[replica]);
  }

  /** Starts a proxy that connects each incoming connection to the next replica. */
  listen(): Promise<NetworkProxy> {
    return startProxy(() => this.#choice(this.#readiness.ready).url);
  }

  stop(): void {
    this.#readiness.stop();
  }

  #choice(ready: readonly Door[]): Choice {
    const choice = ready.length > 0 ? ready : this.#doors;
    const door = choice[this.#turn++ % choice.length];
    if (door === undefined) throw new Error("The balancer has no replicas.");
    return { replica: this.#doors.indexOf(door), url: door.url };
  }
}
