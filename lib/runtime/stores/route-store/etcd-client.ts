import type { Socket } from "node:net";
import { rootCertificates } from "node:tls";
import {
  Channel,
  type ChannelCredentials,
  type ChannelOptions,
  InterceptingCall,
  type Interceptor,
  setLogger,
  status,
} from "@grpc/grpc-js";
import { noop } from "cockatiel";
import { Etcd3, EtcdPermissionDeniedError } from "etcd3";
import type { TlsOptions } from "../../config/index.ts";

export interface EtcdUser {
  username: string;
  password: string;
}

/** The pause between two attempts of a client to connect, and between two DNS lookups of the host. */
const RECONNECT_MS = 250;
const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;

// grpc-js prints errors on stderr, and calls return these errors anyway.
const SILENT = {};

/**
 * A client of one node with one connection, which `close` ends at once with all calls in flight. The library's
 * `faultHandling` is off. No keepalive pings are sent, because etcd closes connections that send many.
 */
export class EtcdClient extends Etcd3 {
  readonly tls: TlsOptions | undefined;
  readonly #connection: NodeConnection;

  /** @param origin such as `http://localhost:2379` */
  constructor(origin: string, tls: TlsOptions | undefined) {
    setLogger(SILENT);
    const connection = new NodeConnection();
    super({
      hosts: origin,
      ...(tls && { credentials: credentialsOf(tls) }),
      faultHandling: { host: () => noop, global: noop },
      grpcOptions: {
        "grpc.initial_reconnect_backoff_ms": RECONNECT_MS,
        "grpc.max_reconnect_backoff_ms": RECONNECT_MS,
        "grpc.dns_min_time_between_resolutions_ms": RECONNECT_MS,
        "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
        "grpc.service_config_disable_resolution": 1,
        "grpc.use_local_subchannel_pool": 1,
        "grpc.enable_http_proxy": 0,
        interceptors: [connection.addToken],
        channelFactoryOverride: connection.channel,
      },
    });
    this.tls = tls;
    this.#connection = connection;
  }

  /** Signs in if there is a user, and pings the node. `deadline` is in milliseconds since the epoch. */
  async connect(user: EtcdUser | undefined, deadline: number): Promise<void> {
    if (user !== undefined) {
      const { username: name, password } = user;
      const { token } = await this.auth.authenticate({ name, password }, { deadline });
      this.#connection.token = token;
    }
    await readNothing(this, deadline);
  }

  override close(): void {
    // The connection first: the library would make a channel that is connecting continue to connect.
    this.#connection.close();
    super.close();
  }
}

/**
 * Sends a linearizable read, to which only a node that reaches the majority responds. etcd checks the user's
 * rights after that, so "permission denied" is a response, and the read needs no right.
 */
export async function readNothing(client: Etcd3, deadline: number): Promise<void> {
  try {
    await client.kv.range({ key: Buffer.from("ping"), keys_only: true }, { deadline });
  } catch (error) {
    if (!(error instanceof EtcdPermissionDeniedError)) throw error;
  }
}

/** The one channel that all etcd services of a client share, with its sockets and the user's token. */
class NodeConnection {
  token: string | null = null;
  #channel: LastingChannel | undefined;
  readonly #sockets = new Set<Socket>();
  #isClosed = false;

  readonly channel = (target: string, credentials: ChannelCredentials, options: ChannelOptions): Channel => {
    this.#channel ??= new LastingChannel(target, this.#watched(credentials), options);
    return this.#channel;
  };

  /** The library would repeat a call with an expired token in a busy loop. A new connection signs in again. */
  readonly addToken: Interceptor = (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, _, next) => {
        if (this.token !== null) metadata.set("token", this.token);
        next(metadata, {
          onReceiveStatus(received, nextStatus) {
            const expired = received.details.includes("invalid auth token");
            nextStatus(
              expired ? { ...received, code: status.UNAVAILABLE, details: "token expired" } : received,
            );
          },
        });
      },
    });

  /** Ends the connection. Otherwise an HTTP/2 session could stay open forever, with a call that gets no response. */
  close(): void {
    this.#isClosed = true;
    this.#channel?.end();
    for (const socket of this.#sockets) socket.destroy();
  }

  #watched(credentials: ChannelCredentials): ChannelCredentials {
    const createConnector: ChannelCredentials["_createSecureConnector"] = (...parameters) => {
      const connector = credentials._createSecureConnector(...parameters);
      return {
        connect: async (socket) => {
          this.#add(socket);
          const connected = await connector.connect(socket);
          this.#add(connected.socket);
          return connected;
        },
        waitForReady: async () => {
          // A closed channel tries to connect once more.
          if (this.#isClosed) throw new Error("The client is closed.");
          await connector.waitForReady();
        },
        getCallCredentials: () => connector.getCallCredentials(),
        destroy: () => connector.destroy(),
      };
    };
    return Object.create(credentials, { _createSecureConnector: { value: createConnector } });
  }

  #add(socket: Socket): void {
    if (this.#isClosed) socket.destroy();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }
}

/** After each failed call, the library closes the channel to replace it, which would open a second connection. */
class LastingChannel extends Channel {
  override close(): void {}

  end(): void {
    super.close();
  }
}

/** The library requires CAs if there is a client certificate, so the public CAs are the default. */
function credentialsOf({ ca, cert, key }: TlsOptions) {
  return {
    rootCertificate: Buffer.from(ca ?? rootCertificates.join("\n")),
    ...(cert !== undefined && { certChain: Buffer.from(cert) }),
    ...(key !== undefined && { privateKey: Buffer.from(key) }),
  };
}
