import { connect } from "node:http2";
import { type Etcd3, GRPCDeadlineExceededError, GRPCUnavailableError } from "etcd3";
import { systemClock, withDeadline } from "../../../async/index.ts";
import type { PeerTls, TlsOptions } from "../../config/index.ts";
import { EtcdClient, type EtcdUser } from "./etcd-client.ts";

const GREETING_TIMEOUT_MS = 1_000;
/**
 * The time between the timeout of a call, or the end of a watch, and its cancellation. An answer in this time
 * still counts.
 */
export const LATE_MS = 10_000;

/**
 * Returns the library's deadline for a call with `timeout_ms`. The library cancels a call at its deadline. If
 * the answer then still arrives, the runtime never closes that connection.
 */
export function lateDeadline(timeout_ms: number): number {
  return systemClock.now() + timeout_ms + LATE_MS;
}

/**
 * One node of etcd and its client, which connects on first use. After a timed-out call the node counts as
 * silent. This ends with a late answer, or when the node greets a new connection, which then replaces the
 * silent one. Without this, the library would open one connection after another to a node that accepts
 * connections but sends nothing, and close none.
 */
export class EtcdEndpoint {
  readonly #origin: string;
  readonly #user: EtcdUser | undefined;
  readonly #tls: PeerTls | undefined;
  #client: EtcdClient;
  #options: TlsOptions | undefined;
  /**
   * The client with the previous TLS files. Its calls in flight can end, and its watch stays until it breaks.
   */
  #old: EtcdClient | undefined;
  #isSilent = false;
  #greeting: Promise<boolean> | null = null;

  /** @param origin such as `http://localhost:2379` */
  constructor(origin: string, user: EtcdUser | undefined, tls: PeerTls | undefined) {
    this.#origin = origin;
    this.#user = user;
    this.#tls = tls;
    this.#options = tls?.current();
    this.#client = new EtcdClient(origin, user, this.#options);
  }

  /** The client, replaced when the TLS files have changed, because the library reads them once. */
  get client(): EtcdClient {
    const options = this.#tls?.current();
    if (options === this.#options) return this.#client;
    this.#options = options;
    this.#old?.close();
    this.#old = this.#client;
    this.#client = new EtcdClient(this.#origin, this.#user, options);
    return this.#client;
  }

  async call<T>(call: (client: Etcd3, deadline: number) => Promise<T>, deadline: number): Promise<T> {
    if (this.#isSilent) await this.#endSilence();
    const { client } = this;
    const timeout_ms = Math.max(0, deadline - systemClock.now());
    const answer = call(client, lateDeadline(timeout_ms));
    const onSilence = () => {
      this.#hearsOf(client, true);
      // A late answer ends the silence. A call that is cancelled leaves the node silent.
      answer.then(
        () => this.#hearsOf(client, false),
        () => {},
      );
      return new GRPCDeadlineExceededError(`No answer within ${timeout_ms} ms.`);
    };
    return await withDeadline(answer, timeout_ms, onSilence);
  }

  close(): void {
    this.#old?.close();
    this.#client.close();
  }

  /** Records whether the node is silent. Results of a replaced client are ignored. */
  #hearsOf(client: Etcd3, isSilent: boolean): void {
    if (client === this.#client) this.#isSilent = isSilent;
  }

  /** Replaces the silent client. Rejects unless the node greets a new connection. */
  async #endSilence(): Promise<void> {
    if (!(await this.#greets())) throw new GRPCUnavailableError("The node did not answer.");
    // An answer came late, or another call has replaced the client.
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#client.close();
    this.#client = new EtcdClient(this.#origin, this.#user, this.#options);
  }

  #greets(): Promise<boolean> {
    this.#greeting ??= greets(this.#origin, this.#tls?.current()).finally(() => {
      this.#greeting = null;
    });
    return this.#greeting;
  }
}

/** Returns whether a new connection receives the HTTP/2 settings, which a server sends first. */
async function greets(origin: string, tls: TlsOptions | undefined): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const session = connect(origin, tls);
  session.once("remoteSettings", () => resolve());
  session.on("error", reject);
  session.once("close", () => reject(new Error("The connection was closed.")));
  try {
    await withDeadline(promise, GREETING_TIMEOUT_MS, () => new Error("The node did not answer."));
    return true;
  } catch {
    return false;
  } finally {
    session.destroy();
  }
}

/** Makes a linearizable read, which only a node that reaches the majority answers. */
export async function readNothing(client: Etcd3, deadline: number): Promise<void> {
  await client.kv.range({ key: Buffer.from("ping"), keys_only: true }, { deadline });
}
