import { type Proxy as NetworkProxy, startProxy } from "../http/proxy.ts";

export interface Replica {
  readonly url: string;
  /** The URL of the internal port, whose `/health/ready` the balancer checks. */
  readonly internalUrl: string;
}

const INTERVAL_MS = 200;
const TIMEOUT_MS = 500;

/**
 * A layer-4 balancer like those of cloud providers, which checks the readiness of each replica every 200 ms. An open
 * connection stays at its replica, even when the replica is no longer ready.
 */
export class Balancer<Member extends Replica> {
  /** The replicas, with whether each was ready at its last check. */
  readonly #members = new Map<Member, boolean>();
  readonly #checking = new Set<Member>();
  readonly #timer = setInterval(() => this.#checkAll(), INTERVAL_MS);
  #turn = 0;

  /** Adds a replica, which gets new connections once it is ready. */
  add(member: Member, isReady = false): void {
    this.#members.set(member, isReady);
  }

  /** Removes a replica that has stopped, as an operator would. */
  remove(member: Member): void {
    this.#members.delete(member);
  }

  /** The replicas that get new connections now. */
  get ready(): Member[] {
    return [...this.#members].flatMap(([member, isReady]) => (isReady ? [member] : []));
  }

  /** Returns the next ready replica, in rotation. If none is ready, returns the next one of all. */
  next(): Member {
    const { ready } = this;
    const choice = ready.length > 0 ? ready : [...this.#members.keys()];
    const member = choice[this.#turn++ % choice.length];
    if (member === undefined) throw new Error("The balancer has no replicas.");
    return member;
  }

  /** Starts a proxy that connects each incoming connection to this port of the next replica. */
  listen(port: "url" | "internalUrl"): Promise<NetworkProxy> {
    return startProxy(() => this.next()[port]);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #checkAll(): void {
    for (const member of this.#members.keys()) if (!this.#checking.has(member)) void this.#check(member);
  }

  async #check(member: Member): Promise<void> {
    this.#checking.add(member);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const isReady = await fetch(`${member.internalUrl}/health/ready`, { keepalive: false, signal }).then(
      ({ ok }) => ok,
      () => false,
    );
    this.#checking.delete(member);
    if (this.#members.has(member)) this.#members.set(member, isReady);
  }
}
