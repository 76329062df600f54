import { connect } from "node:http2";
import { withDeadline } from "@ostiary/lib/async";
import { noop } from "cockatiel";
import { Etcd3, GRPCDeadlineExceededError, GRPCUnavailableError } from "etcd3";

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
  readonly client: Etcd3;
  readonly #origin: string;
  #isSilent = false;
  #greeting: Promise<boolean> | null = null;

  /** @param origin such as `http://localhost:2379` */
  constructor(origin: string, user: EtcdUser | undefined) {
    this.#origin = origin;
    this.client = clientOf(origin, user);
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
    this.client.close();
  }

  #greets(): Promise<boolean> {
    this.#greeting ??= greets(this.#origin).finally(() => {
      this.#greeting = null;
    });
    return this.#greeting;
  }
}

/** Whether a new connection gets as far as the settings of HTTP/2, which a server sends first. */
async function greets(origin: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const session = connect(origin);
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
function clientOf(origin: string, user: EtcdUser | undefined): Etcd3 {
  return new Etcd3({
    hosts: origin,
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

/** A linearizable read: only a node that is in touch with the majority answers it. */
export async function readNothing(client: Etcd3, deadline: number): Promise<void> {
  await client.kv.range({ key: Buffer.from("ping"), keys_only: true }, { deadline });
}
