import { connect } from "node:http2";
import { rootCertificates } from "node:tls";
import { withDeadline } from "@ostiary/lib/async";
import { noop } from "cockatiel";
import { Etcd3, GRPCDeadlineExceededError, GRPCUnavailableError } from "etcd3";
import type { PeerTls, TlsOptions } from "../../config/index.ts";

/** A user of etcd, where it wants to know who calls. */
export interface EtcdUser {
  username: string;
  password: string;
}

/** etcd makes the check of a password slow on purpose. */
const AUTHENTICATION_TIMEOUT_MS = 2_000;
const GREETING_TIMEOUT_MS = 1_000;
const RECONNECT_MS = 500;
const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;

/**
 * One node of etcd and its client, which connects when it is first used. Once a call was not answered by its
 * deadline, the node must greet a new connection before it is called again: the library would open one
 * connection after another to a node that takes them and says nothing, and close none.
 */
export class EtcdEndpoint {
  readonly #origin: string;
  readonly #user: EtcdUser | undefined;
  readonly #tls: PeerTls | undefined;
  #client: Etcd3;
  #options: TlsOptions | undefined;
  /** The client of older files: what is under way there may end, and a watch stays until it breaks. */
  #old: Etcd3 | undefined;
  #isSilent = false;
  #greeting: Promise<boolean> | null = null;

  /** @param origin such as `http://localhost:2379` */
  constructor(origin: string, user: EtcdUser | undefined, tls: PeerTls | undefined) {
    this.#origin = origin;
    this.#user = user;
    this.#tls = tls;
    this.#options = tls?.current();
    this.#client = clientOf(origin, user, this.#options);
  }

  /** Anew when the files of TLS have changed: the library reads them once. */
  get client(): Etcd3 {
    const options = this.#tls?.current();
    if (options === this.#options) return this.#client;
    this.#options = options;
    this.#old?.close();
    this.#old = this.#client;
    this.#client = clientOf(this.#origin, this.#user, options);
    return this.#client;
  }

  async call<T>(call: (client: Etcd3, deadline: number) => Promise<T>, deadline: number): Promise<T> {
    if (this.#isSilent && !(await this.#greets())) throw new GRPCUnavailableError("The node says nothing.");
    this.#isSilent = false;
    try {
      return await call(this.client, deadline);
    } catch (error) {
      if (error instanceof GRPCDeadlineExceededError) this.#isSilent = true;
      throw error;
    }
  }

  close(): void {
    this.#old?.close();
    this.#client.close();
  }

  #greets(): Promise<boolean> {
    this.#greeting ??= greets(this.#origin, this.#tls?.current()).finally(() => {
      this.#greeting = null;
    });
    return this.#greeting;
  }
}

/** Whether a new connection gets as far as the settings of HTTP/2, which a server sends first. */
async function greets(origin: string, tls: TlsOptions | undefined): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const session = connect(origin, tls);
  session.once("remoteSettings", () => resolve());
  session.on("error", reject);
  session.once("close", () => reject(new Error("The connection was closed.")));
  try {
    await withDeadline(promise, GREETING_TIMEOUT_MS, () => new Error("The node says nothing."));
    return true;
  } catch {
    return false;
  } finally {
    session.destroy();
  }
}

/**
 * What the library does by itself when calls fail is off. It sends no pings either, for which etcd would end
 * the connection: that one went silent shows in its calls, and after such a call the library opens another.
 */
function clientOf(origin: string, user: EtcdUser | undefined, tls: TlsOptions | undefined): Etcd3 {
  return new Etcd3({
    hosts: origin,
    ...(tls && { credentials: credentialsOf(tls) }),
    ...(user && {
      auth: { ...user, callOptions: () => ({ deadline: Date.now() + AUTHENTICATION_TIMEOUT_MS }) },
    }),
    faultHandling: { host: () => noop, global: noop },
    grpcOptions: {
      "grpc.initial_reconnect_backoff_ms": RECONNECT_MS / 2,
      "grpc.max_reconnect_backoff_ms": RECONNECT_MS,
      "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
      "grpc.service_config_disable_resolution": 1,
    },
  });
}

/** The library asks for CAs where a client has a certificate. */
function credentialsOf({ ca, cert, key }: TlsOptions) {
  return {
    rootCertificate: Buffer.from(ca ?? rootCertificates.join("\n")),
    ...(cert !== undefined && { certChain: Buffer.from(cert) }),
    ...(key !== undefined && { privateKey: Buffer.from(key) }),
  };
}

/** A linearizable read: only a node that is in touch with the majority answers it. */
export async function readNothing(client: Etcd3, deadline: number): Promise<void> {
  await client.kv.range({ key: Buffer.from("ping"), keys_only: true }, { deadline });
}
