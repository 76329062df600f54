import { connect } from "node:http2";
import {
  type Etcd3,
  EtcdPermissionDeniedError,
  GRPCDeadlineExceededError,
  GRPCUnavailableError,
} from "etcd3";
import { systemClock, withDeadline } from "../../../async/index.ts";
import type { PeerTls, TlsOptions } from "../../config/index.ts";
import { EtcdClient, type EtcdUser } from "./etcd-client.ts";

const GREETING_TIMEOUT_MS = 1_000;
/**
 * The delay before a call that timed out, or a watch that ended, is canceled. A response in this time shows
 * that the node is not silent.
 */
export const LATE_MS = 10_000;

/**
 * Returns the deadline to pass to the library for a call with `timeoutMs`. The library cancels a call at its
 * deadline. If a response arrives after a cancellation, the runtime never closes that connection, so the
 * deadline is much later than the timeout.
 */
export function lateDeadline(timeoutMs: number): number {
  return systemClock.now() + timeoutMs + LATE_MS;
}

/**
 * One node of etcd and its client, which connects on first use. After a call has timed out, the node counts as silent
 * until a late response arrives or a new connection receives the node's HTTP/2 settings. After such settings, a new
 * client replaces the silent client. Without this state, the library would open one connection after another to a
 * silent node, and close none.
 */
export class EtcdEndpoint {
  readonly #origin: string;
  readonly #user: EtcdUser | undefined;
  readonly #tls: PeerTls | undefined;
  #client: EtcdClient;
  #options: TlsOptions | undefined;
  /**
   * The client with the previous TLS files. Its calls in flight can finish, and its watch continues until it
   * breaks.
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

  /**
   * The current client. It is replaced after the TLS files have changed, because the library reads them only
   * once.
   */
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
    const timeoutMs = Math.max(0, deadline - systemClock.now());
    const answer = call(client, lateDeadline(timeoutMs));
    const onSilence = () => {
      this.#hearsOf(client, true);
      // A late response ends the silence. A canceled call does not.
      answer.then(
        () => this.#hearsOf(client, false),
        () => {},
      );
      return new GRPCDeadlineExceededError(`No answer within ${timeoutMs} ms.`);
    };
    return await withDeadline(answer, timeoutMs, onSilence);
  }

  close(): void {
    this.#old?.close();
    this.#client.close();
  }

  /** Records whether the node is silent. Ignores results of a client that has been replaced. */
  #hearsOf(client: Etcd3, isSilent: boolean): void {
    if (client === this.#client) this.#isSilent = isSilent;
  }

  /** Replaces the silent client. Rejects if the node sends nothing over a new connection either. */
  async #endSilence(): Promise<void> {
    if (!(await this.#greets())) throw new GRPCUnavailableError("The node did not answer.");
    // In the meantime, a late response may have arrived, or another call may have replaced the client.
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

/** Returns whether a new connection receives HTTP/2 settings. An HTTP/2 server sends them first. */
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

/**
 * Sends a linearizable read. Only a node that can reach the majority of nodes answers it. etcd checks the user's
 * rights after it has reached the majority. So "permission denied" is an answer, and the read needs no right.
 */
export async function readNothing(client: Etcd3, deadline: number): Promise<void> {
  try {
    await client.kv.range({ key: Buffer.from("ping"), keys_only: true }, { deadline });
  } catch (error) {
    if (!(error instanceof EtcdPermissionDeniedError)) throw error;
  }
}
