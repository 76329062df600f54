/**
 * Crowds of many clients of one kind. Each client is a socket of its own. `fetch` limits concurrent calls,
 * and it reads ahead, so a client that uses `fetch` is never slow.
 */

/** The kinds of clients, each with the state that a client reaches and keeps. */
export type CrowdKind =
  /** The client has received one response and keeps its connection open. */
  | "kept_alive"
  /** The client reads an event stream that has sent only its first event. */
  | "event_stream"
  /** The client has read the start of a large response and reads no further. */
  | "slow_reader"
  /** The client sends one byte of a large body every 5 s. */
  | "slow_writer"
  /** The client has an open WebSocket. */
  | "websocket"
  /** The client has sent a small body except for its last byte. */
  | "held_body";

/** The paths of the service that a crowd calls (`crowd-service.ts`). */
export const CROWD_PATHS = {
  small: "/crowd/small",
  stream: "/crowd/stream",
  large: "/crowd/large",
  upload: "/crowd/upload",
  socket: "/crowd/socket",
} as const;

const HELD_BYTES = 65_536;
const UPLOAD_BYTES = 5_000_000;
const PIECE = Buffer.alloc(16_384, "x");
/** The pause of a slow writer between two bytes. It is shorter than the default of CLIENT_BODY_TIMEOUT_MS. */
const BYTE_PAUSE_MS = 5_000;
/**
 * The number of clients that connect at once. More clients could overflow the backlog of the listening
 * socket.
 */
const BATCH = 100;
const CONNECT_TIMEOUT_MS = 120_000;

/** Clients that keep their connections until `leave`. */
export interface Crowd {
  readonly open: number;
  readonly statuses: ReadonlyMap<string, number>;
  /** Closes the connections of all clients and resolves once the sockets are closed. */
  leave(): Promise<void>;
}

interface Behavior {
  readonly says: string | Buffer;
  /** Returns whether a client that has received this text has reached its final state. */
  isSettled(received: string): boolean;
  readonly stopsReading?: boolean;
  readonly goesOnWriting?: boolean;
}

/** Connects `count` clients. Resolves once each client has reached its state or its connection was closed. */
export async function gatherCrowd(url: string, kind: CrowdKind, count: number): Promise<Crowd> {
  const { hostname, port, host } = new URL(url);
  const behavior = behaviors[kind](host);
  const members = new Set<Bun.Socket<Member>>();
  const statuses = new Map<string, number>();
  const join = () => new Member(behavior, members, statuses).connect(hostname, Number(port));
  for (let done = 0; done < count; done += BATCH) {
    await Promise.all(Array.from({ length: Math.min(BATCH, count - done) }, join));
  }
  const writing = setInterval(() => {
    if (behavior.goesOnWriting) for (const member of members) member.write("x");
  }, BYTE_PAUSE_MS);
  return {
    get open() {
      return members.size;
    },
    statuses,
    async leave() {
      clearInterval(writing);
      const all = [...members];
      for (const member of all) member.terminate();
      await Promise.all(all.map(({ data }) => data.gone));
    },
  };
}

class Member {
  readonly #behavior: Behavior;
  readonly #members: Set<Bun.Socket<Member>>;
  readonly #statuses: Map<string, number>;
  readonly #settled = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #received = "";

  constructor(behavior: Behavior, members: Set<Bun.Socket<Member>>, statuses: Map<string, number>) {
    this.#behavior = behavior;
    this.#members = members;
    this.#statuses = statuses;
  }

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  async connect(hostname: string, port: number): Promise<void> {
    const timer = setTimeout(
      () => this.#settled.reject(new Error(`A client has no complete response: ${this.#received}`)),
      CONNECT_TIMEOUT_MS,
    );
    try {
      await Bun.connect<Member>({ hostname, port, data: this, socket: handlers });
      await this.#settled.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  opened(socket: Bun.Socket<Member>): void {
    this.#members.add(socket);
    const { says } = this.#behavior;
    if (says.length > 0) socket.write(says);
    if (this.#behavior.isSettled("")) this.#settled.resolve();
  }

  took(socket: Bun.Socket<Member>, bytes: Buffer): void {
    if (this.#received === "") this.#count(bytes.toString("latin1").slice(9, 12));
    if (this.#received.length < HEAD_LENGTH_MAX) this.#received += bytes.toString("latin1");
    if (this.#behavior.stopsReading) socket.pause();
    if (this.#behavior.isSettled(this.#received)) this.#settled.resolve();
  }

  ended(socket: Bun.Socket<Member>): void {
    this.#members.delete(socket);
    this.#gone.resolve();
    // The server closed the connection, so the client has no other state to reach. `statuses` has the
    // response.
    this.#settled.resolve();
  }

  #count(status: string): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
  }
}

const HEAD_LENGTH_MAX = 2_048;

const handlers: Bun.SocketHandler<Member> = {
  open: (socket) => socket.data.opened(socket),
  data: (socket, bytes) => socket.data.took(socket, bytes),
  end: (socket) => void socket.end(),
  close: (socket) => socket.data.ended(socket),
  error: (socket) => socket.data.ended(socket),
};

const hasResponse = (received: string) => received.includes("\r\n\r\n");
const atOnce = () => true;

const behaviors: Record<CrowdKind, (host: string) => Behavior> = {
  kept_alive: (host) => ({ says: head("GET", CROWD_PATHS.small, host), isSettled: hasResponse }),
  event_stream: (host) => ({
    says: head("GET", CROWD_PATHS.stream, host),
    isSettled: (received) => received.includes("data: open"),
  }),
  slow_reader: (host) => ({
    says: head("GET", CROWD_PATHS.large, host),
    isSettled: hasResponse,
    stopsReading: true,
  }),
  slow_writer: (host) => ({
    says: withBody(host, UPLOAD_BYTES, PIECE),
    isSettled: atOnce,
    goesOnWriting: true,
  }),
  held_body: (host) => ({
    says: withBody(host, HELD_BYTES, Buffer.alloc(HELD_BYTES - 1, "x")),
    isSettled: atOnce,
  }),
  websocket: (host) => ({
    says: head("GET", CROWD_PATHS.socket, host, [
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${btoa("sixteen bytes...")}`,
    ]),
    isSettled: hasResponse,
  }),
};

function head(method: string, path: string, host: string, fields: readonly string[] = []): string {
  return [`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...fields, "", ""].join("\r\n");
}

function withBody(host: string, length: number, part: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(head("POST", CROWD_PATHS.upload, host, [`Content-Length: ${length}`])),
    part,
  ]);
}
