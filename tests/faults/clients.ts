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

/** What the gateways are told for these runs, and what their own constants are. */
export const LIMITS = {
  /** UPSTREAM_TIMEOUT_MS and UPSTREAM_IDLE_TIMEOUT_MS. */
  upstream_ms: 1_500,
  /** Deadlines of services are looked at so often, and may be noticed so late. */
  upstream_late_ms: 100,
  /** What a client of a limited route waits for when there is no counter store. */
  uncounted_ms: 600,
  /** What a client of an audited route waits for when there is no audit service. */
  unrecorded_ms: 1_200,
  /** VALIDATE_TIMEOUT_MS. */
  validate_ms: 2_000,
  /** A statement and its report. */
  database_ms: 11_000,
  /** APIKEY_CACHE_TTL_SECS. */
  cache_ttl_s: 60,
  /** What clients give up after, well beyond all of these. */
  patience_ms: 6_000,
  publisher_patience_ms: 15_000,
  /** Of the routes of limited clients. */
  requests: 30,
  window_s: 4,
} as const;

/** Time between two events of a stream. */
export const EVENT_INTERVAL_MS = 250;

export interface ClientKind {
  /** What the table calls it. */
  readonly title: string;
  /** Requests a second, or how many streams are open. */
  readonly rate: number;
  /** Parts without which its requests can not be answered well. */
  readonly needs: readonly Part[];
  /** Statuses that say that all is well. */
  readonly good: readonly number[];
  /** What the slowest answer may take by the gateway's own limits; null: such a client has none. */
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
