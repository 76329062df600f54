import type { Figures } from "./figures.ts";

/** The load that a system must serve. */
export interface Demand {
  readonly requests_per_second: number;
  /** The share of requests that are rate-limited but not audited. */
  readonly limited_share: number;
  /** The share of requests that are audited. These requests are rate-limited too; all others are public. */
  readonly audited_share: number;
  /** The number of credentials in use at the same time. */
  readonly credentials: number;
  /** How long a gateway caches the validation of a credential (`APIKEY_CACHE_TTL_SECS`). */
  readonly cache_ttl_seconds: number;
  readonly routes: number;
  /** The number of open event streams and WebSockets. */
  readonly streams: number;
  /** How long audit events are stored. */
  readonly retention_days: number;
}

/** The processes and cores that a load needs. Each core is busy at most `BUSY_MAX` of its time. */
export interface Plan {
  /** The number of gateway processes, each on one core. It includes a spare one. */
  readonly gateways: number;
  readonly gateway_memory_mib: number;
  /** The number of credentials that each gateway caches. Any gateway may receive any credential in use. */
  readonly gateway_credentials: number;
  /** The number of Redis Cluster masters; 1 means a single Redis. Each master has a replica. */
  readonly redis_shards: number;
  readonly validations_per_second: number;
  readonly identities: number;
  readonly identity_postgres_cores: number;
  readonly events_per_second: number;
  readonly audits: number;
  readonly audit_postgres_cores: number;
  readonly partition_gib: number;
  readonly audit_disk_gib: number;
  /** The number of cores' worth of CPU time that all processes use together. */
  readonly busy_cores: number;
  readonly first_to_give_way: "gateways" | "disk of audit";
}

/** The maximum share of time that a core may be busy. Above it, queueing increases tail latency. */
export const BUSY_MAX = 0.6;
const REPLICAS_MIN = 2;
const DAY_SECONDS = 86_400;
const MONTH_DAYS = 30;
const GIB = 2 ** 30;
/** The maximum size of one month's partition that can be backed up or restored in one night. */
export const PARTITION_GIB_MAX = 2_048;

export function planFor(demand: Demand, figures: Figures): Plan {
  const { requests_per_second: rate } = demand;
  const events_per_second = rate * demand.audited_share;
  const limited_per_second = rate * (demand.limited_share + demand.audited_share);
  const gateways = Math.max(REPLICAS_MIN, processes(gatewayLoad(demand, figures)) + 1);
  // Each gateway caches validations separately, and there is at most one validation for each request.
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
    // Everything else scales by adding a process.
    first_to_give_way: partition_gib > PARTITION_GIB_MAX ? "disk of audit" : "gateways",
  };
}

/** Returns the CPU time that all gateways together use in one second, in microseconds. */
function gatewayLoad(demand: Demand, figures: Figures): number {
  const { requests_per_second, limited_share, audited_share } = demand;
  const each =
    (1 - limited_share - audited_share) * figures.gateway_public_us +
    limited_share * figures.gateway_limited_us +
    audited_share * figures.gateway_audited_us;
  return requests_per_second * each;
}

/** Returns the number of cores for this CPU time per second, at a utilization of at most `BUSY_MAX`. */
function processes(us_per_second: number): number {
  return Math.max(1, Math.ceil(us_per_second / 1e6 / BUSY_MAX));
}
