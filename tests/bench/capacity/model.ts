import type { Figures } from "./figures.ts";

/** What a system is asked to carry. */
export interface Demand {
  readonly requests_per_second: number;
  /** Shares of all requests. The rest is public and unlimited. */
  readonly limited_share: number;
  /** Of all requests too: these are limited as well. */
  readonly audited_share: number;
  /** Credentials in use at a time. */
  readonly credentials: number;
  /** How long a gateway keeps the validation of one (`APIKEY_CACHE_TTL_SECS`). */
  readonly cache_ttl_seconds: number;
  readonly routes: number;
  /** Event streams and WebSockets that are open. */
  readonly streams: number;
  /** How long events are kept. */
  readonly retention_days: number;
}

/** What to run for it: processes or cores, each busy at most {@link BUSY_MAX} of its time. */
export interface Plan {
  /** Processes of one core; one more than are needed, so that one may be away. */
  readonly gateways: number;
  readonly gateway_memory_mib: number;
  /** Masters of a Redis Cluster; 1 is a Redis without one. Each has a replica. */
  readonly redis_shards: number;
  readonly validations_per_second: number;
  readonly identities: number;
  readonly identity_postgres_cores: number;
  readonly events_per_second: number;
  readonly audits: number;
  readonly audit_postgres_cores: number;
  readonly partition_gib: number;
  readonly audit_disk_gib: number;
  readonly first_to_give_way: "gateways" | "disk of audit";
}

/** Above this, queues make the slowest answers slow. */
export const BUSY_MAX = 0.6;
const REPLICAS_MIN = 2;
const DAY_SECONDS = 86_400;
const MONTH_DAYS = 30;
const GIB = 2 ** 30;
/** A month of events on one primary beyond this is no longer backed up or restored in a night. */
export const PARTITION_GIB_MAX = 2_048;

export function planFor(demand: Demand, figures: Figures): Plan {
  const { requests_per_second: rate } = demand;
  const events_per_second = rate * demand.audited_share;
  const limited_per_second = rate * (demand.limited_share + demand.audited_share);
  const gateways = Math.max(REPLICAS_MIN, processes(gatewayLoad(demand, figures)) + 1);
  // each gateway keeps its own validations; none asks more often than requests come
  const validations_per_second = Math.min(
    limited_per_second,
    (gateways * demand.credentials) / demand.cache_ttl_seconds,
  );
  const day_bytes = events_per_second * DAY_SECONDS * figures.event_bytes;
  const partition_gib = Math.ceil((day_bytes * MONTH_DAYS) / GIB);
  return {
    gateways,
    gateway_memory_mib: Math.round(
      figures.gateway_base_mib +
        (demand.routes * figures.gateway_route_kib +
          (demand.streams / gateways) * figures.gateway_stream_kib) /
          1024,
    ),
    redis_shards: processes(limited_per_second * figures.redis_count_us),
    validations_per_second: Math.round(validations_per_second),
    identities: Math.max(REPLICAS_MIN, processes(validations_per_second * figures.identity_validation_us)),
    identity_postgres_cores: processes(validations_per_second * figures.postgres_validation_us),
    events_per_second: Math.round(events_per_second),
    audits: Math.max(REPLICAS_MIN, processes(events_per_second * figures.audit_event_us) + 1),
    audit_postgres_cores: processes(events_per_second * figures.postgres_event_us),
    partition_gib,
    audit_disk_gib: Math.ceil((day_bytes * demand.retention_days) / GIB),
    // all others are one more process
    first_to_give_way: partition_gib > PARTITION_GIB_MAX ? "disk of audit" : "gateways",
  };
}

/** µs of CPU of all gateways in a second. */
function gatewayLoad(demand: Demand, figures: Figures): number {
  const { requests_per_second, limited_share, audited_share } = demand;
  const each =
    (1 - limited_share - audited_share) * figures.gateway_public_us +
    limited_share * figures.gateway_limited_us +
    audited_share * figures.gateway_audited_us;
  return requests_per_second * each;
}

/** How many cores so much work of a second keeps busy, with room to spare. */
function processes(us_per_second: number): number {
  return Math.max(1, Math.ceil(us_per_second / 1e6 / BUSY_MAX));
}
