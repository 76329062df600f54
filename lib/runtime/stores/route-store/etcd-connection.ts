import {
  ClientClosedError,
  type Etcd3,
  GRPCDeadlineExceededError,
  GRPCResourceExhastedError,
  GRPCUnavailableError,
  GRPCUnknownError,
  isRecoverableError,
} from "etcd3";
import { systemClock, withDeadline } from "../../../async/index.ts";
import type { PeerTls } from "../../config/index.ts";
import { EtcdClient, type EtcdUser, readNothing } from "./etcd-client.ts";

export interface EtcdConnectionOptions {
  hosts: string[];
  auth?: EtcdUser;
  tls?: PeerTls;
}

/** A request to a node, which must settle by `deadline`, in milliseconds since the epoch. */
export type EtcdCall<T> = (client: Etcd3, deadline: number) => Promise<T>;

export interface CallOptions {
  timeoutMs?: number;
  /** Whether the call is sent at most once, because a repetition could undo a later write. */
  once?: boolean;
}

/** The deadline of a call. It is longer than a leader election of etcd, which takes about two seconds. */
const CALL_MS = 5_000;
/** The deadline of a ping over a new connection. The next node is tried before a call's deadline. */
const PING_MS = 2_000;
/** The minimum pause after no node responded. During the pause, calls fail at once. */
const RETRY_MS = 250;

/**
 * The connection to one node. Nodes are tried in turn until one responds to a ping. When the deadline of a call passes,
 * only that call fails, and a ping over a new connection decides whether the old one is replaced.
 */
export class EtcdConnection {
  readonly #options: EtcdConnectionOptions;
  /** The node that is tried first. */
  #first: number;
  #client: EtcdClient | null = null;
  #opening: Promise<EtcdClient> | null = null;
  #isExamining = false;
  /** The last error when no node responded, and the time until which each call fails with it. */
  #unavailable: { error: unknown; untilMs: number } | null = null;
  #isClosed = false;

  constructor(options: EtcdConnectionOptions) {
    this.#options = options;
    this.#first = Math.floor(Math.random() * options.hosts.length);
  }

  /**
   * Makes a call, and repeats it over a new connection when the connection breaks, unless it is sent only once. An
   * attempt whose connection broke may still be executed, so other calls must be idempotent.
   */
  async call<T>(call: EtcdCall<T>, { timeoutMs = CALL_MS, once = false }: CallOptions = {}): Promise<T> {
    const deadline = systemClock.now() + timeoutMs;
    for (let left = this.#options.hosts.length; ; left--) {
      const client = await this.#connected(deadline);
      try {
        return await call(client, deadline);
      } catch (error) {
        if (isErrorResponse(error)) throw error;
        if (isLate(error)) void this.#examine(client);
        else this.#drop(client);
        if (once || left === 0 || systemClock.now() >= deadline) throw error;
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#client?.close();
    this.#client = null;
  }

  /** Connects if there is no connection, or if its TLS files changed. */
  async #connected(deadline: number): Promise<EtcdClient> {
    if (this.#isClosed) throw new ClientClosedError("etcd");
    const client = this.#client;
    if (client !== null && client.tls === this.#options.tls?.current()) return client;
    if (client !== null) this.#drop(client);
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    const late = () => new GRPCUnavailableError("No node responded in time.");
    return withDeadline(this.#opening, Math.max(0, deadline - systemClock.now()), late);
  }

  async #connect(): Promise<EtcdClient> {
    if (this.#unavailable !== null && systemClock.elapsedMs() < this.#unavailable.untilMs)
      throw this.#unavailable.error;
    this.#client = await this.#open();
    return this.#client;
  }

  /** Tries the nodes in turn. Returns a client of the first node that responds to a ping. */
  async #open(): Promise<EtcdClient> {
    const { hosts, auth, tls } = this.#options;
    let failure: unknown;
    for (let turn = 0; turn < hosts.length; turn++) {
      const index = (this.#first + turn) % hosts.length;
      const client = new EtcdClient(hosts[index] ?? "", tls?.current());
      try {
        await client.connect(auth, systemClock.now() + PING_MS);
        if (this.#isClosed) throw new ClientClosedError("etcd");
        this.#first = index;
        this.#unavailable = null;
        return client;
      } catch (error) {
        client.close();
        if (isErrorResponse(error)) throw error;
        failure = error;
      }
    }
    this.#unavailable = { error: failure, untilMs: systemClock.elapsedMs() + RETRY_MS };
    throw failure;
  }

  /**
   * Replaces the connection after a late call, unless it responds to a ping. If no node does, the store is unavailable.
   */
  async #examine(old: EtcdClient): Promise<void> {
    if (this.#isExamining || this.#client !== old) return;
    this.#isExamining = true;
    const isAlive = readNothing(old, systemClock.now() + PING_MS).then(
      () => true,
      () => false,
    );
    const opened = await this.#open().catch(() => null);
    this.#isExamining = false;
    if (this.#client !== old || (await isAlive)) return opened?.close();
    old.close();
    this.#client = opened;
  }

  #drop(client: EtcdClient): void {
    client.close();
    if (this.#client === client) this.#client = null;
  }
}

function isLate(error: unknown): boolean {
  if (error instanceof GRPCDeadlineExceededError) return true;
  return error instanceof GRPCUnknownError && error.message.includes("context deadline exceeded");
}

/** Returns whether the node has responded with an error, which another node would repeat. */
export function isErrorResponse(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  return !isRecoverableError(error) || error instanceof GRPCResourceExhastedError;
}
