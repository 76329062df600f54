import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type Clock, pause } from "@ostiary/lib/async";

/** Returns all addresses of a host name. Rejects if the name has none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, order: "verbatim" })).map(({ address }) => address);

/** The time for which the addresses of a name are used before the next lookup. */
const FRESH_MS = 1_000;
/** The time after which known addresses are used although a lookup is still under way. */
const LOOKUP_PATIENCE_MS = 500;
/** The time for which an address that failed is tried only after all others. */
const SKIP_MS = 10_000;
/**
 * The maximum number of concurrent attempts to connect to one address, which limits the descriptors that a silent
 * host can occupy. Other addresses of the name have their own.
 */
const ATTEMPTS_MAX = 256;

/**
 * The addresses of a service's host. Each new connection begins with the next address in turn. An address that
 * refused a connection or did not respond is skipped for a while.
 */
export class ServiceAddresses {
  readonly #hostname: string;
  readonly #resolve: Resolve;
  readonly #clock: Clock;
  #known: readonly string[] = [];
  #freshUntilMs = Number.NEGATIVE_INFINITY;
  #lookup: Promise<void> | null = null;
  #turn = 0;
  readonly #skipped = new Map<string, number>();
  /** For each address, the number of attempts to connect without a result. */
  readonly #attempts = new Map<string, number>();

  constructor(hostname: string, resolve: Resolve, clock: Clock) {
    this.#hostname = hostname;
    this.#resolve = resolve;
    this.#clock = clock;
    if (isIP(hostname) === 0) return;
    this.#known = [hostname];
    this.#freshUntilMs = Number.POSITIVE_INFINITY;
  }

  /**
   * Returns all addresses in the order in which to try them. While the resolver fails or is silent, returns the
   * addresses that were found last. Rejects if none was ever found.
   */
  async inTurn(): Promise<readonly string[]> {
    if (this.#clock.elapsedMs() >= this.#freshUntilMs) await this.#refresh();
    const first = this.#turn++ % this.#known.length;
    const rotated = [...this.#known.slice(first), ...this.#known.slice(0, first)];
    const nowMs = this.#clock.elapsedMs();
    const isSkipped = (address: string) => (this.#skipped.get(address) ?? nowMs) > nowMs;
    const [skipped, good] = [rotated.filter(isSkipped), rotated.filter((address) => !isSkipped(address))];
    const [next] = good;
    // When the time of an address is over, one connection tries it, and the others still skip it.
    if (next !== undefined && this.#skipped.has(next)) this.failed(next);
    return [...good, ...skipped];
  }

  mayTry(address: string): boolean {
    return (this.#attempts.get(address) ?? 0) < ATTEMPTS_MAX;
  }

  began(address: string): void {
    this.#attempts.set(address, (this.#attempts.get(address) ?? 0) + 1);
  }

  ended(address: string): void {
    const left = (this.#attempts.get(address) ?? 0) - 1;
    if (left > 0) this.#attempts.set(address, left);
    else this.#attempts.delete(address);
  }

  failed(address: string): void {
    this.#skipped.set(address, this.#clock.elapsedMs() + SKIP_MS);
  }

  get isSkippingAny(): boolean {
    const nowMs = this.#clock.elapsedMs();
    return this.#skipped.values().some((untilMs) => untilMs > nowMs);
  }

  accepted(address: string): void {
    this.#skipped.delete(address);
  }

  async #refresh(): Promise<void> {
    this.#lookup ??= this.#lookUp().finally(() => {
      this.#lookup = null;
    });
    if (this.#known.length === 0) await this.#lookup;
    else await Promise.race([this.#lookup.catch(() => {}), pause(this.#clock, LOOKUP_PATIENCE_MS)]);
  }

  async #lookUp(): Promise<void> {
    const found = [...new Set(await this.#resolve(this.#hostname))];
    this.#known = found;
    this.#freshUntilMs = this.#clock.elapsedMs() + FRESH_MS;
    for (const address of this.#skipped.keys()) if (!found.includes(address)) this.#skipped.delete(address);
  }
}
