import { connect, type Socket } from "node:net";
import postgres from "postgres";
import { endsWithin, systemClock, withDeadline } from "../../../async/index.ts";
import { databaseUsesTls, type PeerTls, renewingOptions } from "../../config/index.ts";
import { ConnectionLost, connectionFailure } from "./failure.ts";
import { openingStatement, type SessionRow, withoutSettings } from "./session-settings.ts";

/** One server of a `DATABASE_URL`. */
export interface Server {
  /** The URL with this server alone, for the driver. */
  url: string;
  host: string;
  port: number;
}

export interface SessionOptions {
  packet: Readonly<Record<string, string>>;
  /** The settings that the session must have, whether or not the packet has them. */
  settings: Readonly<Record<string, string>>;
  tls: PeerTls | undefined;
  /** Whether to refuse a server that is not the primary. */
  primary: boolean;
  timeoutMs: number;
}

export interface Statement {
  text: string;
  parameters?: postgres.ParameterOrJSON<never>[];
  prepare?: boolean;
  /** Whether rows are arrays of values. */
  isRaw?: boolean;
}

/** The rows that a statement returned, with the tag of its command, such as `COMMIT`. */
export type StatementResult<Row = Record<string, unknown>> = Row[] & { command?: string };

export class IsStandby extends ConnectionLost {}

/** The maximum time that a closing connection has for its last statement. */
const END_MS = 1_000;

/**
 * A client of postgres.js with one connection, so that the pool can discard one connection and see what the
 * server returned for COMMIT. The client never connects again: a statement of a transaction would run outside of the
 * transaction.
 */
export class Connection {
  readonly openedMs = systemClock.elapsedMs();
  readonly server: Server;
  readonly session: SessionRow;
  /** Whether a pooler is between this process and the server, because the server has another process id. */
  readonly isPooled: boolean;
  readonly #client: Client;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(client: Client, server: Server, session: SessionRow, isPooled: boolean) {
    this.server = server;
    this.#client = client;
    this.session = session;
    this.isPooled = isPooled;
  }

  static async open(server: Server, options: SessionOptions): Promise<Connection> {
    const socket = connect({ host: server.host, port: server.port });
    const opening = (async () => {
      await connected(socket);
      const client = clientOver(socket, server, options);
      const rows = await client.sql.unsafe<SessionRow[]>(openingStatement(options.settings));
      const [session] = rows;
      if (session === undefined) throw new ConnectionLost("The server returned no session.");
      return new Connection(client, server, session, rows.state.pid !== session.pid);
    })();
    const late = () => new ConnectionLost(`The server opened no session within ${options.timeoutMs} ms.`);
    try {
      return await withDeadline(opening, options.timeoutMs, late);
    } catch (error) {
      opening.catch(() => {});
      socket.destroy();
      // The driver itself ends a connection to a server of another kind.
      const isDestroyed = error instanceof Error && "code" in error && error.code === "CONNECTION_DESTROYED";
      if (options.primary && isDestroyed) throw new IsStandby("The server is a standby.");
      throw connectionFailure(error);
    }
  }

  get isOpen(): boolean {
    return this.#client.isOpen;
  }

  /** Sends a statement after the results of all earlier ones have arrived. Rejects with ConnectionLost. */
  send<Row>(statement: Statement): Promise<StatementResult<Row>> {
    const result = this.#last.then(() => this.#ask<Row>(statement));
    this.#last = result.catch(() => {}); // the caller gets the error
    return result;
  }

  async end(): Promise<void> {
    await endsWithin(this.#last, END_MS);
    this.#client.isOpen = false;
    await this.#client.sql.end({ timeout: END_MS / 1000 });
    this.#client.socket.destroy();
  }

  discard(): void {
    this.#client.isOpen = false;
    this.#client.socket.destroy();
  }

  async #ask<Row>({ text, parameters = [], prepare, isRaw }: Statement): Promise<StatementResult<Row>> {
    if (!this.isOpen) throw new ConnectionLost("The connection was lost before this statement.");
    try {
      const query = this.#client.sql.unsafe(text, parameters, { prepare });
      return asResult<Row>(await (isRaw ? query.values() : query));
    } catch (error) {
      const failure = connectionFailure(error);
      if (failure instanceof ConnectionLost) this.discard();
      throw failure;
    }
  }
}

/** Casts the result of the driver, whose rows nothing checks: see `rowsOf`. */
function asResult<Row>(result: object): StatementResult<Row> {
  // biome-ignore lint/plugin: the comment above the function says why
  return result as StatementResult<Row>;
}

interface Client {
  readonly sql: postgres.Sql;
  readonly socket: Socket;
  isOpen: boolean;
}

/** Returns a client of postgres.js that uses `socket`, and never connects again. */
function clientOver(socket: Socket, server: Server, options: SessionOptions): Client {
  const { packet, settings, tls, primary } = options;
  let isUsed = false;
  // The driver reads the host from the socket, to check the certificate.
  Object.assign(socket, { host: server.host, port: server.port });
  const driverOptions = {
    max: 1,
    // The pool ends connections, and limits the time of connecting.
    idle_timeout: 0,
    max_lifetime: 0,
    connect_timeout: 0,
    backoff: () => 0,
    onnotice: () => {},
    onclose: () => {
      client.isOpen = false;
    },
    // The driver's query for array types would cause an unhandled rejection if its connection breaks.
    fetch_types: false,
    // The typings lack this option, which the driver documents.
    socket: () => {
      if (isUsed) throw new ConnectionLost("The server closed the connection.");
      isUsed = true;
      return socket;
    },
    connection: { application_name: "ostiary", ...packet },
    types: columnTypes,
    ssl: databaseUsesTls(server.url) && (tls === undefined ? {} : renewingOptions(tls)),
  };
  const attributes: postgres.Options<typeof columnTypes> = primary ? { target_session_attrs: "primary" } : {};
  const sql = postgres(withoutSettings(server.url, settings), { ...driverOptions, ...attributes });
  const client: Client = { sql, socket, isOpen: true };
  return client;
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve();
    });
    socket.once("error", reject);
  });
}

/** An element of an array's text. An unclosed quote matches too, to avoid backtracking. */
const element = /"((?:[^"\\]|\\.|\\$)*)(?:"|$)|([^,{}"]+)/gs;

/** The parsers and serializers for postgres.js. The doc comment of `rows` lists the resulting types. */
const columnTypes = {
  int8: {
    to: 20,
    from: [20],
    parse: (text: string): number | bigint => {
      const value = Number(text);
      return Number.isSafeInteger(value) ? value : BigInt(text);
    },
    serialize: (value: unknown): string => String(value),
  },
  time: {
    to: 1184,
    from: [1082, 1083, 1114, 1184],
    parse: (text: string): string => text,
    serialize: (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value)),
  },
  json: {
    to: 114,
    from: [114, 3802],
    parse: (text: string): unknown => JSON.parse(text),
    serialize: (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value)),
  },
  texts: {
    to: 1009,
    from: [1009],
    parse: (text: string): (string | null)[] => Array.from(text.matchAll(element), elementOf),
    serialize: (value: unknown): string => String(value),
  },
};

function elementOf([, quoted, bare]: RegExpMatchArray): string | null {
  if (quoted !== undefined) return quoted.replace(/\\(.)/gs, "$1");
  return bare === undefined || bare === "NULL" ? null : bare;
}
