import { type Proxy as NetworkProxy, startProxy } from "../../support/proxy.ts";
import { answerOf } from "./replica.ts";

const PROBE_INTERVAL_MS = 200;
const PROBE_TIMEOUT_MS = 400;

/** A replica behind a balancer: its URL, and the URL of its readiness probe. */
export interface Door {
  readonly url: string;
  readonly readyUrl: string;
}

/** A round-robin load balancer. It skips replicas that are not ready, unless no replica is ready. */
export class Balancer {
  readonly #doors: readonly Door[];
  readonly #ready: boolean[];
  readonly #probes: NodeJS.Timeout[];
  #turn = 0;

  constructor(doors: readonly Door[]) {
    this.#doors = doors;
    this.#ready = doors.map(() => true);
    this.#probes = doors.map(({ readyUrl }, index) =>
      setInterval(async () => {
        this.#ready[index] = (await answerOf(readyUrl, PROBE_TIMEOUT_MS)) === 200;
      }, PROBE_INTERVAL_MS),
    );
  }

  /** Returns the index and URL of the next replica. */
  next(): { replica: number; url: string } {
    const all = this.#doors.map(({ url }, replica) => ({ replica, url }));
    const ready = all.filter(({ replica }) => this.#ready[replica]);
    const choice = ready.length > 0 ? ready : all;
    const next = choice[this.#turn++ % choice.length];
    if (next === undefined) throw new Error("The balancer has no replicas.");
    return next;
  }

  /** Starts a proxy that connects each incoming connection to the next replica. */
  listen(): Promise<NetworkProxy> {
    return startProxy(() => this.next().url);
  }

  stop(): void {
    for (const probe of this.#probes) clearInterval(probe);
  }
}
