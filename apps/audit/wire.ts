import { type Clock, systemClock } from "@ostiary/lib/async";
import { peerTls } from "@ostiary/lib/runtime/config";
import type { Service } from "@ostiary/lib/runtime/service";
import { type Database, openDatabase } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry, type Telemetry } from "@ostiary/lib/runtime/telemetry";
import { createApp } from "./app.ts";
import { insertSigningKey } from "./checkpoints/queries.ts";
import { loadSigningKey } from "./checkpoints/signing-key.ts";
import type { AuditConfig } from "./config.ts";
import { openReads } from "./events/queries.ts";
import { Exports } from "./exports/export.ts";
import type { ExportLimits } from "./exports/permits.ts";
import { PartitionKeeper } from "./partitions/commands.ts";
import { MIGRATIONS, SCHEMA } from "./schema.ts";
import { Sealer } from "./sealing/sealer.ts";
import { EventWriter } from "./writes/commands.ts";

/** Connections for writes are apart from those for reads: no number of readers keeps an event from being written. */
const WRITE_CONNECTIONS = 5;
/** Half of the connections for reads stay free for pages, and half of the exports for other logs. */
const EXPORTS: ExportLimits = { exports_max: 4, per_log_max: 2 };

/** Beyond its interval a sealer's pass, or another replica's taking over, is waited for. */
const SEAL_WAIT_MS = 4_000;

export interface AuditGiven {
  /** A database of the process; stays open when the service stops. */
  database?: Database;
  /** The system's unless given. */
  clock?: Clock;
}

/** The audit service from its configuration (contract 1). */
export async function wireAudit(config: AuditConfig, given: AuditGiven = {}): Promise<Service> {
  const telemetry = await createTelemetry({ name: "audit", namespace: "audit" }, config);
  const clock = given.clock ?? systemClock;
  const health = { draining: false };
  const { writes, reads, close } = await openStores(config, given.database, telemetry);
  const partitions = new PartitionKeeper({
    database: writes,
    log: telemetry.log,
    clock,
  });
  const writer = new EventWriter({
    database: writes,
    clock,
    keepPartitions: () => partitions.keep(),
    tracing: telemetry.exportedTracing,
  });
  const key_file = config.AUDIT_SIGNING_KEY_FILE;
  const key = key_file === undefined ? null : await loadSigningKey(key_file);
  const sealer = new Sealer({
    reads,
    writes,
    key,
    interval_ms: config.SEAL_INTERVAL_MS,
    clock,
    log: telemetry.log,
    metrics: telemetry.metrics,
  });
  const app = createApp({
    telemetry,
    health,
    reads,
    writes,
    writer,
    clock,
    exports: new Exports({
      database: reads,
      limits: EXPORTS,
      pace: {
        bytes_per_second_min: config.EXPORT_BYTES_PER_SECOND_MIN,
        lag_ms_max: config.EXPORT_LAG_MS_MAX,
      },
      seal_wait_ms_max: config.SEAL_INTERVAL_MS + SEAL_WAIT_MS,
      clock,
      log: telemetry.log,
    }),
    internal_auth_token: config.INTERNAL_AUTH_TOKEN,
    swagger_enabled: config.SWAGGER_ENABLED,
    requests_max: config.MAX_REQUESTS_IN_FLIGHT,
  });
  return {
    name: "audit",
    telemetry,
    health,
    ...app,
    async start() {
      await writes.migrate(SCHEMA, MIGRATIONS);
      await partitions.start();
      if (key !== null) await insertSigningKey(writes, key.jwk);
      sealer.start();
    },
    async stop() {
      await sealer.stop();
      await partitions.stop();
      await writer.drained();
      await close();
    },
  };
}

interface Stores {
  writes: Database;
  reads: Database;
  /** Closes what was opened here. */
  close(): Promise<void>;
}

/** A given database serves the writes; the reads of a server have connections of their own all the same. */
async function openStores(
  config: AuditConfig,
  given: Database | undefined,
  { observeStore }: Telemetry,
): Promise<Stores> {
  const options = { namespace: SCHEMA, observer: observeStore, tls: peerTls(config, "DATABASE") };
  const writes =
    given === undefined
      ? await openDatabase(config.DATABASE_URL, { ...options, pool_max: WRITE_CONNECTIONS })
      : given.scoped(options.namespace, options.observer);
  if (config.DATABASE_URL.startsWith("pglite://")) {
    return { writes, reads: writes, close: () => writes.close() };
  }
  const reads = await openReads(config.DATABASE_URL, options);
  return {
    writes,
    reads,
    close: async () => {
      await Promise.all([writes.close(), reads.close()]);
    },
  };
}
