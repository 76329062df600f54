import type { PeerTls } from "../../config/index.ts";
import { Connection, IsStandby, type Server, type SessionOptions } from "./connection.ts";
import { ConnectionLost, isSettingRefused } from "./failure.ts";
import { settingsSince14 } from "./session-settings.ts";

const OPEN_MS = 3_000;
const OPEN_ONE_OF_SEVERAL_MS = 1_500;

export class NoPrimary extends ConnectionLost {
  constructor(cause: unknown) {
    super("No server of the list accepts writes.", { cause });
  }
}

/**
 * Opens sessions on the servers of a `DATABASE_URL`, tried in turn from the last primary on. The driver's own list is
 * not used: a client that is ended while it goes through the list never stops.
 */
export class Connector {
  readonly #servers: readonly Server[];
  /** The start-up packet is empty once a server has refused a setting in it. */
  #options: SessionOptions;
  #current = 0;

  constructor(url: string, given: Readonly<Record<string, string>>, tls: PeerTls | undefined) {
    this.#servers = serversOf(url);
    const settings = { ...given, ...settingsSince14 };
    const limitMs = this.#servers.length > 1 ? OPEN_ONE_OF_SEVERAL_MS : OPEN_MS;
    const timeoutMs = Math.min(limitMs, connectTimeoutOf(url) ?? limitMs);
    this.#options = { packet: settings, settings, tls, primary: wantsPrimary(url), timeoutMs };
  }

  /** Returns whether the connection leads to the server that new connections lead to. */
  isCurrent({ server }: Connection): boolean {
    return server === this.#servers[this.#current];
  }

  async open(): Promise<Connection> {
    let failure: unknown;
    const first = this.#current;
    for (const offset of this.#servers.keys()) {
      const index = (first + offset) % this.#servers.length;
      try {
        const connection = await this.#openAt(this.#servers[index]);
        if (this.#current === first) this.#current = index;
        if (this.#current === index) return connection;
        // Another primary was found during this attempt, so this server is an old primary that was frozen.
        connection.discard();
        return await this.open();
      } catch (error) {
        if (failure === undefined || !(error instanceof IsStandby)) failure = error;
      }
    }
    throw this.#servers.length > 1 || failure instanceof IsStandby ? new NoPrimary(failure) : failure;
  }

  async #openAt(server: Server | undefined): Promise<Connection> {
    if (server === undefined) throw new RangeError("The URL names no such server.");
    const options = this.#options;
    try {
      return await Connection.open(server, options);
    } catch (error) {
      if (!isSettingRefused(error) || Object.keys(options.packet).length === 0) throw error;
      this.#options = { ...options, packet: {} };
      return Connection.open(server, this.#options);
    }
  }
}

const DEFAULT_PORT = 5432;

export function serversOf(url: string): Server[] {
  const [, scheme = "", authority = "", rest = ""] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/.exec(url) ?? [];
  const end = authority.lastIndexOf("@") + 1;
  return authority
    .slice(end)
    .split(",")
    .map((place) => {
      const [, address, name = "", port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(place) ?? [];
      return {
        url: `${scheme}${authority.slice(0, end)}${place}${rest}`,
        host: address ?? decodeURIComponent(name),
        port: port === undefined ? DEFAULT_PORT : Number(port),
      };
    });
}

/** Returns whether connections must lead to a primary: the URL has several servers, or requires a primary. */
export function wantsPrimary(url: string): boolean {
  const asked = parametersOf(url).get("target_session_attrs");
  return asked === "primary" || asked === "read-write" || serversOf(url).length > 1;
}

/** Returns `connect_timeout` of the URL, or null. Like in libpq, 0 means no limit. */
export function connectTimeoutOf(url: string): number | null {
  const seconds = Number(parametersOf(url).get("connect_timeout") ?? 0);
  return seconds > 0 ? seconds * 1000 : null;
}

function parametersOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split("?", 2)[1]);
}
