import postgres from "postgres";
import { systemClock } from "../../../async/index.ts";
import type { PeerTls } from "../../config/index.ts";
import { ConnectionLost } from "./failure.ts";
import { serverTls } from "./server-tls.ts";
import { withoutSettings } from "./session-settings.ts";

/**
 * Selects the timeline of the write-ahead log, which increases with each promotion of a standby. The value is
 * null on a standby.
 */
const TIMELINE = `select case when pg_is_in_recovery() then null
  else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;

/** The timeout of a search over all servers. It is needed because a frozen server never responds. */
const SEARCH_MS = 1_000;
/**
 * The time that the other servers have to respond after a server reports that it is the primary. The reporting server
 * may be an old primary.
 */
const OTHERS_MS = 100;

/** The error if none of several servers is the primary. */
export class NoPrimary extends ConnectionLost {
  constructor(failure: unknown) {
    super("No server of the list accepts writes.");
    this.cause = failure;
  }
}

/** Returns the URL of each server in a comma-separated list of `host:port`, in order. */
export function serverUrls(url: string): string[] {
  const [, scheme = "", authority = "", rest = ""] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/.exec(url) ?? [];
  const end = authority.lastIndexOf("@") + 1;
  const hosts = authority.slice(end).split(",");
  return hosts.map((host) => `${scheme}${authority.slice(0, end)}${host}${rest}`);
}

/**
 * Returns host and port of an IPv6 address, because the driver would split the address at its colons. Returns
 * an empty object for any other host.
 */
export function ipv6Place(url: string): { host?: string; port?: number } {
  const [, address, port = "5432"] = IPV6_HOST.exec(url) ?? [];
  if (address === undefined) return {};
  const place: object = { host: [address], port: [Number(port)] };
  // biome-ignore lint/plugin: the driver also accepts lists and does not split their items, but its types do not say so
  return place as { host?: string; port?: number };
}

const IPV6_HOST = /^[a-z]+:\/\/(?:[^/?#]*@)?\[([\da-fA-F:.]+)\](?::(\d+))?(?:[/?#]|$)/;

/** Returns whether connections must lead to a primary: there are several servers, or the URL requires a primary. */
export function wantsPrimary(url: string): boolean {
  const asked = new URLSearchParams(url.split("?", 2)[1]).get("target_session_attrs");
  return asked === "primary" || asked === "read-write" || serverUrls(url).length > 1;
}

/**
 * Finds the primary among several servers by asking all of them at the same time. The driver's own search
 * asks one server after another, and waits for a frozen server each time. It also accepts a standby for
 * `read-write`, and never ends while no server listens.
 */
export class PrimarySearch {
  readonly #urls: readonly string[];
  readonly #tls: PeerTls | undefined;
  /** The newest timeline seen. A primary with an older timeline has been replaced. */
  #timeline = 0;

  constructor(url: string, tls: PeerTls | undefined) {
    this.#urls = serverUrls(url);
    this.#tls = tls;
  }

  /**
   * Returns the URL of the primary. If several URLs lead to the primary, prefers `current`.
   *
   * @throws NoPrimary if no server is the primary
   */
  async find(current?: string): Promise<string> {
    const found = new Map<string, number>();
    let failure: unknown = new Error("No server answered.");
    const over = Promise.withResolvers<void>();
    const timers = [systemClock.after(SEARCH_MS, over.resolve)];
    const asking = this.#urls.map(async (url) => {
      try {
        const timeline = await timelineOf(url, this.#tls);
        if (timeline === null || timeline < this.#timeline) return;
        found.set(url, timeline);
        timers.push(systemClock.after(OTHERS_MS, over.resolve));
      } catch (error) {
        failure = error;
      }
    });
    await Promise.race([Promise.all(asking), over.promise]);
    for (const cancel of timers) cancel();
    this.#timeline = Math.max(this.#timeline, ...found.values());
    const newest = this.#urls.filter((url) => found.get(url) === this.#timeline);
    const [first] = newest;
    if (first === undefined) throw new NoPrimary(failure);
    return current !== undefined && newest.includes(current) ? current : first;
  }
}

async function timelineOf(url: string, tls: PeerTls | undefined): Promise<number | null> {
  // This connection must also accept a standby, to ask for its timeline.
  const sql = postgres(withoutSettings(url, {}), {
    ...ipv6Place(url),
    ssl: serverTls(url, tls),
    max: 1,
    connect_timeout: SEARCH_MS / 1000,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: "ostiary-search", statement_timeout: SEARCH_MS },
  });
  try {
    const [row] = await sql.unsafe<{ timeline: number | null }[]>(TIMELINE);
    return row?.timeline ?? null;
  } finally {
    void sql.end({ timeout: 0 });
  }
}
