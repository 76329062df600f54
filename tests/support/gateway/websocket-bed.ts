import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { waitFor } from "../index.ts";
import { member } from "./identity-stand-in.ts";
import { GatewayNeighbours, MEMBER_KEY } from "./neighbours.ts";

export const UNLABELLED_KEY = `acme-k-2-${"b".repeat(43)}`;
export const MESSAGE_BYTES_MAX = 200_000;
export const IDLE_TIMEOUT_MS = 1_000;
const UPSTREAM_TIMEOUT_MS = 300;

export interface Seen {
  target: string;
  headers: Headers;
}

export type ServiceSocket = Bun.ServerWebSocket<Seen>;

export interface Client {
  socket: WebSocket;
  messages: (string | Buffer)[];
  closed: { code: number; reason: string } | null;
}

export function chat(url: string): StoredServiceConfig {
  return {
    url,
    public: {
      routes: [
        { path: "/public/{room}", methods: ["GET"] },
        { path: "/posts", methods: ["POST"] },
      ],
    },
    organization: {
      routes: [
        {
          path: "/org/{room}",
          upstream: "/organizations/{subject.organization_id}/{path.room}",
          methods: ["GET"],
          audit: true,
          required_labels: ["chat"],
        },
        { path: "/limited", methods: ["GET"], rate_limit: { requests: 1, window_seconds: 60 } },
      ],
    },
  };
}

/** A service with WebSocket endpoints, and a gateway in front of the service. */
export class WebSocketBed extends GatewayNeighbours {
  readonly closes: { code: number; reason: string }[] = [];
  readonly service: Bun.Server<Seen>;
  sockets: ServiceSocket[] = [];
  onMessage: (socket: ServiceSocket, message: string | Buffer) => void = () => {};

  constructor() {
    super({ [MEMBER_KEY]: member({ labels: ["chat"] }), [UNLABELLED_KEY]: member({ labels: [] }) });
    this.service = Bun.serve<Seen>({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request, server) {
        const { pathname, search } = new URL(request.url);
        if (pathname.includes("refuses")) return new Response("no", { status: 403 });
        const data = { target: pathname + search, headers: request.headers };
        return server.upgrade(request, { data }) ? undefined : new Response("no", { status: 400 });
      },
      websocket: {
        maxPayloadLength: 10_000_000,
        backpressureLimit: 0,
        open: (socket) => void this.sockets.push(socket),
        message: (socket, message) => this.onMessage(socket, message),
        close: (_, code, reason) => void this.closes.push({ code, reason }),
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.service.port}`;
  }

  start(): Promise<void> {
    const variables = {
      WEBSOCKET_MESSAGE_BYTES_MAX: String(MESSAGE_BYTES_MAX),
      WEBSOCKET_IDLE_TIMEOUT_MS: String(IDLE_TIMEOUT_MS),
      UPSTREAM_TIMEOUT_MS: String(UPSTREAM_TIMEOUT_MS),
    };
    return this.open(variables, {
      chat: chat(this.url),
      dead: { url: "http://127.0.0.1:9", public: { routes: [{ path: "/dead", methods: ["GET"] }] } },
    });
  }

  /** Opens a client's WebSocket. Resolves once the WebSocket is open or the handshake has failed. */
  async connect(path: string, options: Bun.WebSocketOptions = {}): Promise<Client> {
    const socket = new WebSocket(this.gateway.url.replace("http", "ws") + path, options);
    const client: Client = { socket, messages: [], closed: null };
    const settled = Promise.withResolvers<void>();
    socket.addEventListener("open", () => settled.resolve());
    socket.addEventListener("error", () => {});
    socket.addEventListener("message", ({ data }) => void client.messages.push(data));
    socket.addEventListener("close", ({ code, reason }) => {
      client.closed = { code, reason };
      settled.resolve();
    });
    await settled.promise;
    return client;
  }

  closedAtService() {
    return waitFor(() => this.closes[0], { what: "the service's WebSocket closing" });
  }

  async reset(): Promise<void> {
    await waitFor(() => this.sockets.every((socket) => socket.readyState === WebSocket.CLOSED));
    this.sockets = [];
    this.closes.length = 0;
    this.audit.writes.length = 0;
    this.onMessage = () => {};
  }

  async close(): Promise<void> {
    await this.stop();
    await this.service.stop(true);
  }
}
