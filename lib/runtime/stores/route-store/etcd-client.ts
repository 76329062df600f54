import { rootCertificates } from "node:tls";
import { Channel, type ChannelCredentials, type ChannelOptions, connectivityState } from "@grpc/grpc-js";
import { noop } from "cockatiel";
import { Etcd3 } from "etcd3";
import { systemClock } from "../../../async/index.ts";
import type { TlsOptions } from "../../config/index.ts";

/** The user for an etcd with authentication. */
export interface EtcdUser {
  username: string;
  password: string;
}

/**
 * The timeout of authentication. etcd makes authentication slow on purpose, to hinder guessing of passwords.
 */
const AUTHENTICATION_TIMEOUT_MS = 2_000;
/**
 * The minimum pause between two attempts to connect (with 20 % jitter), and between two DNS lookups of the
 * host.
 */
const RECONNECT_MS = 250;
/** The maximum time for which a closed client waits for an attempt to connect. */
const SETTLE_MS = 5_000;
const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;

/**
 * A client for one node of etcd, with one connection. It turns off the library's `faultHandling`. It sends no
 * keepalive pings, because etcd closes connections that send them too often. A silent connection is detected by the
 * timeouts of calls.
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

/** Keeps the one channel that all etcd services of a client share. */
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
 * A channel that only `end` closes. After each failed call, the library calls `close` in order to replace the
 * channel. A real close would leak connections: a channel that is closed while it connects, or between two
 * attempts, can still connect later, and nothing closes that connection.
 */
class LastingChannel extends Channel {
  override close(): void {}

  /** Closes the channel. Waits first for an attempt to connect that is in progress or about to begin. */
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

/**
 * Returns the TLS credentials. Uses the public CAs by default, because the library requires CAs if there is a
 * client certificate.
 */
function credentialsOf({ ca, cert, key }: TlsOptions) {
  return {
    rootCertificate: Buffer.from(ca ?? rootCertificates.join("\n")),
    ...(cert !== undefined && { certChain: Buffer.from(cert) }),
    ...(key !== undefined && { privateKey: Buffer.from(key) }),
  };
}
