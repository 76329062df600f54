import type { Figures } from "./figures.ts";

export interface Demand {
  readonly requests_per_second: number;
  /** The share of requests that are rate-limited but not audited. */
  readonly limitedShare: number;
  /** The share of requests that are audited. These requests are rate-limited too; all others are public. */
  readonly auditedShare: number;
  readonly credentials: number;
  /** How long a gateway caches the validation of a credential (`APIKEY_CACHE_TTL_SECS`). */
  readonly cacheTtlSeconds: number;
  readonly routes: number;
  readonly streams: number;
  readonly retentionDays: number;
}

/** The processes and cores that a load needs. Each core is busy at most `BUSY_MAX` of its time. */
export interface Plan {
  /** The number of gateway processes, each on one core. It includes a spare one. */
  readonly gateways: number;
  readonly gatewayMemoryMib: number;
  /** The number of credentials that each gateway caches. Any gateway may receive any credential in use. */
  readonly gatewayCredentials: number;
  /** The number of Redis Cluster masters; 1 means a single Redis. Each master has a replica. */
  readonly redisShards: number;
  readonly validationsPerSecond: number;
  readonly identities: number;
  readonly identityPostgresCores: number;
  readonly events_per_second: number;
  readonly audits: number;
  readonly auditPostgresCores: number;
  readonly partitionGib: number;
  readonly auditDiskGib: number;
  /** The CPU time that all processes use together, as a number of fully used cores. */
  readonly busyCores: number;
  readonly firstToGiveWay: "gateways" | "disk of audit";
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
  const events_per_second = rate * demand.auditedShare;
  const limitedPerSecond = rate * (demand.limitedShare + demand.auditedShare);
  const gateways = Math.max(REPLICAS_MIN, processes(gatewayLoad(demand, figures)) + 1);
  // Each gateway caches validations separately, and there is at most one validation for each request.
  const validationsPerSecond = Math.min(
    limitedPerSecond,
    (gateways * demand.credentials) / demand.cacheTtlSeconds,
  );
  const validatingUs = validationsPerSecond * figures.identity_validation_us;
  const lookingUpUs = validationsPerSecond * figures.postgres_validation_us;
  const countingUs = limitedPerSecond * figures.redis_count_us;
  const recordingUs = events_per_second * figures.audit_event_us;
  const writingUs = events_per_second * figures.postgres_event_us;
  const servingUs = gatewayLoad(demand, figures);
  const dayBytes = events_per_second * DAY_SECONDS * figures.event_bytes;
  const partitionGib = Math.ceil((dayBytes * MONTH_DAYS) / GIB);
  return {
    gateways,
    gatewayCredentials: demand.credentials,
    gatewayMemoryMib: Math.round(
      figures.gateway_base_mib +
        (demand.routes * figures.gateway_route_kib +
          demand.credentials * figures.gateway_credential_kib +
          (demand.streams / gateways) * figures.gateway_stream_kib) /
          1024,
    ),
    redisShards: processes(countingUs),
    validationsPerSecond: Math.round(validationsPerSecond),
    identities: Math.max(REPLICAS_MIN, processes(validatingUs)),
    identityPostgresCores: processes(lookingUpUs),
    events_per_second: Math.round(events_per_second),
    audits: Math.max(REPLICAS_MIN, processes(recordingUs) + 1),
    auditPostgresCores: processes(writingUs),
    partitionGib,
    auditDiskGib: Math.ceil((dayBytes * demand.retentionDays) / GIB),
    busyCores: (servingUs + countingUs + validatingUs + lookingUpUs + recordingUs + writingUs) / 1e6,
    // Everything else scales by adding a process.
    firstToGiveWay: partitionGib > PARTITION_GIB_MAX ? "disk of audit" : "gateways",
  };
}

/** Returns the CPU time that all gateways together use in one second, in microseconds. */
function gatewayLoad(demand: Demand, figures: Figures): number {
  const { requests_per_second, limitedShare, auditedShare } = demand;
  const each =
    (1 - limitedShare - auditedShare) * figures.gateway_public_us +
    limitedShare * figures.gateway_limited_us +
    auditedShare * figures.gateway_audited_us;
  return requests_per_second * each;
}

/** Returns the number of cores for this CPU time per second, at a utilization of at most `BUSY_MAX`. */
function processes(usPerSecond: number): number {
  return Math.max(1, Math.ceil(usPerSecond / 1e6 / BUSY_MAX));
}
