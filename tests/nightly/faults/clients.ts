import type { Part } from "./cells.ts";

/** The kinds of clients. They differ in the parts of the system that their requests need. */
export const CLIENTS = [
  "public",
  "limited",
  "jwt",
  "cached",
  "unseen",
  "audited",
  "refused",
  "stream",
  "publish",
] as const;
export type Client = (typeof CLIENTS)[number];

/**
 * The timeouts and limits of a run: settings of the gateways, constants of the product, and patience of
 * clients.
 */
export const LIMITS = {
  /** The gateways' UPSTREAM_TIMEOUT_MS and UPSTREAM_IDLE_TIMEOUT_MS. */
  upstreamMs: 1_500,
  /** The interval at which a gateway checks its deadlines, and so the maximum delay of a timeout. */
  upstreamLateMs: 100,
  /** The maximum time until a gateway refuses a limited request while the counter store is down. */
  uncountedMs: 600,
  /** The maximum time until a gateway refuses an audited request while the audit service is down. */
  unrecordedMs: 1_200,
  /** The gateways' VALIDATE_TIMEOUT_MS. */
  validateMs: 2_000,
  /** The maximum time of a database statement, including the time until the watchdog ends it. */
  databaseMs: 11_000,
  /** The gateways' APIKEY_CACHE_TTL_SECS. */
  cacheTtlS: 60,
  /** The timeout of clients: longer than all timeouts of the gateways. */
  patienceMs: 6_000,
  publisherPatienceMs: 15_000,
  /** The rate limit of the route `/things/limited`: `requests` in `windowS` seconds. */
  requests: 30,
  windowS: 4,
} as const;

export const EVENT_INTERVAL_MS = 250;

interface ClientKind {
  readonly title: string;
  /** The number of requests a second; for streams, the number of open connections. */
  readonly rate: number;
  readonly needs: readonly Part[];
  readonly good: readonly number[];
  /** The maximum response time, according to the gateway's timeouts. */
  readonly limitMs: number;
}

const SERVICE_MS = LIMITS.upstreamMs + LIMITS.upstreamLateMs;

export const KINDS: Readonly<Record<Client, ClientKind>> = {
  public: { title: "public", rate: 20, needs: ["upstream"], good: [200], limitMs: SERVICE_MS },
  limited: {
    title: "limited",
    rate: 24,
    needs: ["redis", "upstream"],
    good: [200, 429],
    limitMs: LIMITS.uncountedMs + SERVICE_MS,
  },
  jwt: { title: "JWT", rate: 12, needs: ["upstream"], good: [200], limitMs: SERVICE_MS },
  cached: { title: "key, cached", rate: 16, needs: ["upstream"], good: [200], limitMs: SERVICE_MS },
  unseen: {
    title: "key, never seen",
    rate: 5,
    needs: ["identity", "postgres", "upstream"],
    good: [200],
    limitMs: LIMITS.validateMs + SERVICE_MS,
  },
  audited: {
    title: "audited",
    rate: 24,
    needs: ["audit", "postgres", "upstream"],
    good: [200],
    limitMs: LIMITS.unrecordedMs + SERVICE_MS,
  },
  refused: {
    title: "no credential",
    rate: 6,
    needs: ["identity", "postgres"],
    good: [401],
    limitMs: LIMITS.validateMs,
  },
  stream: {
    title: "events",
    rate: 6,
    needs: ["upstream"],
    good: [200],
    limitMs: SERVICE_MS + EVENT_INTERVAL_MS,
  },
  publish: {
    title: "publish",
    rate: 1,
    needs: ["postgres", "registries"],
    good: [200],
    limitMs: LIMITS.databaseMs,
  },
};
