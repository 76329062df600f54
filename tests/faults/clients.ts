import type { Part } from "./cells.ts";

/** The kinds of clients, by what their requests need. */
export const CLIENTS = [
  "public",
  "limited",
  "jwt",
  "cached",
  "unseen",
  "audited",
  "refused",
  "stream",
  "socket",
  "publish",
] as const;
export type Client = (typeof CLIENTS)[number];

/** The settings of the gateways in these runs, and their own constants. */
export const LIMITS = {
  /** UPSTREAM_TIMEOUT_MS and UPSTREAM_IDLE_TIMEOUT_MS. */
  upstream_ms: 1_500,
  /** The interval of the sweep over deadlines, which is how late one may be noticed. */
  upstream_late_ms: 100,
  /** The time until a client of a limited route gets its answer without a counter store. */
  uncounted_ms: 600,
  /** The time until a client of an audited route gets its answer without an audit service. */
  unrecorded_ms: 1_200,
  /** VALIDATE_TIMEOUT_MS. */
  validate_ms: 2_000,
  /** The time of a statement with its watchdog. */
  database_ms: 11_000,
  /** APIKEY_CACHE_TTL_SECS. */
  cache_ttl_s: 60,
  /** The time after which clients give up, well beyond all others. */
  patience_ms: 6_000,
  publisher_patience_ms: 15_000,
  /** The limit of the routes of limited clients. */
  requests: 30,
  window_s: 4,
} as const;

/** The time between two events of a stream. */
export const EVENT_INTERVAL_MS = 250;

export interface ClientKind {
  /** The name of the client in the table. */
  readonly title: string;
  /** The requests a second, or the number of open streams. */
  readonly rate: number;
  /** The parts that its requests need. */
  readonly needs: readonly Part[];
  /** The statuses of a healthy system. */
  readonly good: readonly number[];
  /** The longest time of an answer by the gateway's own limits; null for a client without one. */
  readonly limit_ms: number | null;
}

const SERVICE_MS = LIMITS.upstream_ms + LIMITS.upstream_late_ms;

export const KINDS: Readonly<Record<Client, ClientKind>> = {
  public: { title: "public", rate: 20, needs: ["upstream"], good: [200], limit_ms: SERVICE_MS },
  limited: {
    title: "limited",
    rate: 24,
    needs: ["redis", "upstream"],
    good: [200, 429],
    limit_ms: LIMITS.uncounted_ms + SERVICE_MS,
  },
  jwt: { title: "JWT", rate: 12, needs: ["upstream"], good: [200], limit_ms: SERVICE_MS },
  cached: { title: "key, cached", rate: 16, needs: ["upstream"], good: [200], limit_ms: SERVICE_MS },
  unseen: {
    title: "key, never seen",
    rate: 5,
    needs: ["identity", "postgres", "upstream"],
    good: [200],
    limit_ms: LIMITS.validate_ms + SERVICE_MS,
  },
  audited: {
    title: "audited",
    rate: 24,
    needs: ["audit", "postgres", "upstream"],
    good: [200],
    limit_ms: LIMITS.unrecorded_ms + SERVICE_MS,
  },
  refused: {
    title: "no credential",
    rate: 6,
    needs: ["identity", "postgres"],
    good: [401],
    limit_ms: LIMITS.validate_ms,
  },
  stream: {
    title: "events",
    rate: 6,
    needs: ["upstream"],
    good: [200],
    limit_ms: SERVICE_MS + EVENT_INTERVAL_MS,
  },
  socket: { title: "WebSocket", rate: 4, needs: ["upstream"], good: [200], limit_ms: null },
  publish: {
    title: "publish",
    rate: 1,
    needs: ["postgres", "registries"],
    good: [200],
    limit_ms: LIMITS.database_ms,
  },
};
