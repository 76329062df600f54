import { rootCertificates } from "node:tls";
import { Channel, type ChannelCredentials, type ChannelOptions, connectivityState } from "@grpc/grpc-js";
import { noop } from "cockatiel";
import { Etcd3 } from "etcd3";
import { systemClock } from "../../../async/index.ts";
import type { TlsOptions } from "../../config/index.ts";

/** The credentials for an etcd with authentication. */
export interface EtcdUser {
  username: string;
  password: string;
}

/** The timeout of authentication, which etcd makes slow on purpose. */
const AUTHENTICATION_TIMEOUT_MS = 2_000;
/** The pause between two attempts to connect, give or take a fifth, and between two look-ups of the host's address. */
const RECONNECT_MS = 250;
/** The longest time that a closed client waits for an attempt to connect. */
const SETTLE_MS = 5_000;
const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;

/**
 * A client of one node of etcd, on one connection. It does not use the library's fault handling. It sends no
 * pings, because etcd would end the connection for them. Calls detect a silent connection.
 */
export class EtcdClient extends Etcd3 {
  readonly #connection: NodeConnection;

  /** @param origin such as `http://localhost:2379` */
  constructor(origin: string, user: EtcdUser | undefined, tls: TlsOptions | undefined) {
    const connection = new NodeConnection();
    super({
      hosts: origin,
      ...(tls && { credentials: credentialsOf(tls) }),
      ...(user && {
        auth: { ...user, callOptions: () => ({ deadline: systemClock.now() + AUTHENTICATION_TIMEOUT_MS }) },
      }),
      faultHandling: { host: () => noop, global: noop },
      grpcOptions: {
        "grpc.initial_reconnect_backoff_ms": RECONNECT_MS,
        "grpc.max_reconnect_backoff_ms": RECONNECT_MS,
        "grpc.dns_min_time_between_resolutions_ms": RECONNECT_MS,
        "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
        "grpc.service_config_disable_resolution": 1,
        "grpc.use_local_subchannel_pool": 1,
        channelFactoryOverride: connection.channel,
      },
    });
    this.#connection = connection;
  }

  override close(): void {
    super.close();
    this.#connection.end();
  }
}

/** The channel that all etcd services of a client share. */
class NodeConnection {
  #channel: LastingChannel | undefined;

  readonly channel = (target: string, credentials: ChannelCredentials, options: ChannelOptions): Channel => {
    this.#channel ??= new LastingChannel(target, credentials, options);
    return this.#channel;
  };

  end(): void {
    this.#channel?.end();
  }
}

/**
 * A channel that only `end` closes. The library calls `close` after each failed call, to replace the channel.
 * A channel that is closed during or between attempts to connect can still connect. Nothing then closes that
 * connection.
 */
class LastingChannel extends Channel {
  override close(): void {}

  /** Closes the channel, but first waits for an attempt to connect that is in progress or due after a failure. */
  end(): void {
    const { CONNECTING, TRANSIENT_FAILURE } = connectivityState;
    const state = this.getConnectivityState(false);
    const deadline = systemClock.now() + SETTLE_MS;
    const close = () => super.close();
    const atNext = (next: () => void) =>
      this.watchConnectivityState(state, deadline, () => setImmediate(next));
    if (state === CONNECTING) atNext(() => (systemClock.now() < deadline ? this.end() : close()));
    else if (state === TRANSIENT_FAILURE) atNext(close);
    else close();
  }
}

/** Returns the credentials, with the public CAs by default: the library requires CAs if the client has a certificate. */
function credentialsOf({ ca, cert, key }: TlsOptions) {
  return {
    rootCertificate: Buffer.from(ca ?? rootCertificates.join("\n")),
    ...(cert !== undefined && { certChain: Buffer.from(cert) }),
    ...(key !== undefined && { privateKey: Buffer.from(key) }),
  };
}
