import type { Figures } from "./figures.ts";

/** The load of a system. */
export interface Demand {
  readonly requests_per_second: number;
  /** The limited share of all requests. The rest is public and unlimited. */
  readonly limited_share: number;
  /** The audited share of all requests. These requests are limited as well. */
  readonly audited_share: number;
  /** Credentials in use at a time. */
  readonly credentials: number;
  /** How long a gateway caches a validation (`APIKEY_CACHE_TTL_SECS`). */
  readonly cache_ttl_seconds: number;
  readonly routes: number;
  /** Open event streams and WebSockets. */
  readonly streams: number;
  /** How long events are kept. */
  readonly retention_days: number;
}

/** The processes or cores for a load, each busy at most `BUSY_MAX` of its time. */
export interface Plan {
  /** The processes of one core; one more than needed, so that one may be down. */
  readonly gateways: number;
  readonly gateway_memory_mib: number;
  /**
   * The credentials that each gateway caches: all that are in use, because each gateway may get any of them.
   */
  readonly gateway_credentials: number;
  /** The masters of a Redis Cluster; 1 is a single Redis. Each has a replica. */
  readonly redis_shards: number;
  readonly validations_per_second: number;
  readonly identities: number;
  readonly identity_postgres_cores: number;
  readonly events_per_second: number;
  readonly audits: number;
  readonly audit_postgres_cores: number;
  readonly partition_gib: number;
  readonly audit_disk_gib: number;
  /** The cores that all processes together keep busy: far fewer than processes when each has little to do. */
  readonly busy_cores: number;
  readonly first_to_give_way: "gateways" | "disk of audit";
}

/** Above this, queues make the slowest answers slow. */
export const BUSY_MAX = 0.6;
const REPLICAS_MIN = 2;
const DAY_SECONDS = 86_400;
const MONTH_DAYS = 30;
const GIB = 2 ** 30;
/** A month of events on one primary beyond this size cannot be backed up or restored in a night. */
export const PARTITION_GIB_MAX = 2_048;

export function planFor(demand: Demand, figures: Figures): Plan {
  const { requests_per_second: rate } = demand;
  const events_per_second = rate * demand.audited_share;
  const limited_per_second = rate * (demand.limited_share + demand.audited_share);
  const gateways = Math.max(REPLICAS_MIN, processes(gatewayLoad(demand, figures)) + 1);
  // Each gateway has its own cache. Validations never exceed requests.
  const validations_per_second = Math.min(
    limited_per_second,
    (gateways * demand.credentials) / demand.cache_ttl_seconds,
  );
  const validating_us = validations_per_second * figures.identity_validation_us;
  const looking_up_us = validations_per_second * figures.postgres_validation_us;
  const counting_us = limited_per_second * figures.redis_count_us;
  const recording_us = events_per_second * figures.audit_event_us;
  const writing_us = events_per_second * figures.postgres_event_us;
  const serving_us = gatewayLoad(demand, figures);
  const day_bytes = events_per_second * DAY_SECONDS * figures.event_bytes;
  const partition_gib = Math.ceil((day_bytes * MONTH_DAYS) / GIB);
  return {
    gateways,
    gateway_credentials: demand.credentials,
    gateway_memory_mib: Math.round(
      figures.gateway_base_mib +
        (demand.routes * figures.gateway_route_kib +
          demand.credentials * figures.gateway_credential_kib +
          (demand.streams / gateways) * figures.gateway_stream_kib) /
          1024,
    ),
    redis_shards: processes(counting_us),
    validations_per_second: Math.round(validations_per_second),
    identities: Math.max(REPLICAS_MIN, processes(validating_us)),
    identity_postgres_cores: processes(looking_up_us),
    events_per_second: Math.round(events_per_second),
    audits: Math.max(REPLICAS_MIN, processes(recording_us) + 1),
    audit_postgres_cores: processes(writing_us),
    partition_gib,
    audit_disk_gib: Math.ceil((day_bytes * demand.retention_days) / GIB),
    busy_cores: (serving_us + counting_us + validating_us + looking_up_us + recording_us + writing_us) / 1e6,
    // All others need only one more process.
    first_to_give_way: partition_gib > PARTITION_GIB_MAX ? "disk of audit" : "gateways",
  };
}

/** Returns the CPU of all gateways in a second, in µs. */
function gatewayLoad(demand: Demand, figures: Figures): number {
  const { requests_per_second, limited_share, audited_share } = demand;
  const each =
    (1 - limited_share - audited_share) * figures.gateway_public_us +
    limited_share * figures.gateway_limited_us +
    audited_share * figures.gateway_audited_us;
  return requests_per_second * each;
}

/** Returns the cores that this work of a second keeps busy, with room to spare. */
function processes(us_per_second: number): number {
  return Math.max(1, Math.ceil(us_per_second / 1e6 / BUSY_MAX));
}
