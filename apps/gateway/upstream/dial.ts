import {
  Connection,
  type ConnectionDialer,
  type ConnectionEnvironment,
  type ConnectionOwner,
} from "./connection.ts";
import type { ServiceAddresses } from "./service-addresses.ts";

/** The maximum time for which a dial waits for one address before it also tries the next. */
const PATIENCE_MAX_MS = 500;

export interface DialOwner extends ConnectionOwner {
  /** Reserves one more attempt to connect. Returns false if too many are under way. */
  takeAttempt(): boolean;
  /** Called when an attempt has ended without a connection. */
  giveAttempt(): void;
  /** Called when an attempt has established a connection, even if the dial has already ended. */
  opened(connection: Connection, tookMs: number): void;
  /** Called once, when the first attempt succeeds, or with the cause when all attempts have failed. */
  dialed(failure: { readonly cause: unknown } | null): void;
  /** Called instead of {@link dialed} when no attempt has ended within the connect timeout. */
  overdue(): void;
}

export interface DialTarget {
  readonly addresses: ServiceAddresses;
  readonly port: number;
  readonly connectTimeoutMs: number;
}

/**
 * Establishes one connection to a service. Tries the addresses of the service one after the other: the next one
 * when an address refuses, or when it stays silent for a while. An attempt cannot be canceled, so the attempt at
 * a silent address stays under way, and its connection is used if it is established later. The dial itself ends after
 * the connect timeout, so that the next one asks for the addresses again.
 */
export class Dial {
  readonly #owner: DialOwner;
  readonly #target: DialTarget;
  readonly #environment: ConnectionEnvironment;
  #left: string[] = [];
  #patienceMs = PATIENCE_MAX_MS;
  #underway = 0;
  #isDone = false;
  #cancelPatience: () => void = () => {};
  #cancelDeadline: () => void = () => {};

  constructor(owner: DialOwner, target: DialTarget, environment: ConnectionEnvironment) {
    this.#owner = owner;
    this.#target = target;
    this.#environment = environment;
  }

  async start(): Promise<void> {
    const { addresses, connectTimeoutMs } = this.#target;
    this.#cancelDeadline = this.#environment.clock.after(connectTimeoutMs, () => this.#end("overdue"));
    try {
      this.#left = (await addresses.inTurn()).filter((address) => addresses.mayTry(address));
    } catch (cause) {
      this.#owner.giveAttempt();
      this.#end({ cause });
      return;
    }
    if (this.#isDone || this.#left.length === 0) {
      this.#owner.giveAttempt(); // without an address that may be tried, the dial waits for its deadline
      return;
    }
    this.#patienceMs = Math.min(PATIENCE_MAX_MS, connectTimeoutMs / (this.#left.length + 1));
    this.#attempt();
  }

  #attempt(): void {
    const { addresses, port } = this.#target;
    const address = this.#left.shift() ?? "";
    this.#underway += 1;
    addresses.began(address);
    const dialer: ConnectionDialer = {
      opened: (connection, tookMs) => {
        this.#underway -= 1;
        addresses.ended(address);
        addresses.accepted(address);
        this.#end(null);
        this.#owner.opened(connection, tookMs);
      },
      unopened: (cause) => {
        this.#underway -= 1;
        addresses.ended(address);
        addresses.failed(address);
        this.#failed(cause);
      },
    };
    this.#awaitConnection(address);
    new Connection(this.#owner, this.#environment).connect(address, port, dialer);
  }

  /** Tries the next address as well when this one is silent. */
  #awaitConnection(address: string): void {
    this.#cancelPatience();
    if (this.#left.length === 0) return;
    this.#cancelPatience = this.#environment.clock.after(this.#patienceMs, () => {
      if (this.#isDone || !this.#owner.takeAttempt()) return;
      this.#target.addresses.failed(address);
      this.#attempt();
    });
  }

  #failed(cause: unknown): void {
    this.#owner.giveAttempt();
    if (this.#isDone) return;
    if (this.#left.length > 0 && this.#owner.takeAttempt()) this.#attempt();
    else if (this.#underway === 0) this.#end({ cause });
  }

  #end(failure: { readonly cause: unknown } | "overdue" | null): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#cancelPatience();
    this.#cancelDeadline();
    if (failure === "overdue") this.#owner.overdue();
    else this.#owner.dialed(failure);
  }
}
