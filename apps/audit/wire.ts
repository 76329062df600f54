import { type Clock, systemClock } from "@ostiary/lib/async";
import type { Service } from "@ostiary/lib/runtime/service";
import { type Database, migrateAtStart, openWithReads } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { createApp } from "./app.ts";
import type { AuditConfig } from "./config.ts";
import { readLimits } from "./events/event-sql.ts";
import { partitionKeeper } from "./events/partition-keeper.ts";
import { Exports } from "./exports/export.ts";
import { MIGRATIONS, SCHEMA } from "./owner-database.ts";
import { wireProof } from "./proof/index.ts";
import { wireStreams } from "./streams/wire.ts";
import { quotaSweeper } from "./usage/quota-sweeper.ts";
import { platformServices } from "./usage/usage-columns.ts";
import { usageEventWriter } from "./usage/usage-event-writer.ts";
import { EventWriter } from "./writes/write-commands.ts";

/** Connections for writes, separate from the connections for reads, so that readers cannot delay writes of events. */
const WRITE_CONNECTIONS = 5;

/**
 * Builds the audit service from its configuration. `given.database` is a database that the process already opened for
 * writes.
 */
export async function wireAudit(
  config: AuditConfig,
  given: { database?: Database; clock?: Clock } = {},
): Promise<Service> {
  const telemetry = await createTelemetry({ name: "audit", namespace: "audit" }, config);
  const clock = given.clock ?? systemClock;
  const health = { draining: false };
  const options = { namespace: SCHEMA, observer: telemetry.observeStore, poolMax: WRITE_CONNECTIONS };
  const stores = await openWithReads(config, options, readLimits, given.database);
  const { database: writes, reads } = stores;
  const shared = { writes, reads, clock, telemetry };
  const background = { ...shared, writes: writes.inBackground(), reads: reads.inBackground() };
  const { log } = telemetry;
  const keeping = { database: background.writes, log, clock };
  const partitions = partitionKeeper(keeping);
  const writer = new EventWriter({
    database: writes,
    clock,
    keepPartitions: partitions.keep,
    tracing: telemetry.exportedTracing,
  });
  const proof = await wireProof(config, background);
  const streams = wireStreams(config, shared, background);
  const tasks = [partitions, proof, usageEventWriter(keeping), quotaSweeper(keeping), ...streams.background];
  const app = createApp({
    ...shared,
    streams: streams.handlers,
    published: proof.published,
    health,
    writer,
    platform: platformServices(config),
    exports: new Exports({
      proof: proof.exports,
      pace: {
        bytesPerSecondMin: config.EXPORT_BYTES_PER_SECOND_MIN,
        lagMsMax: config.EXPORT_LAG_MS_MAX,
      },
      clock,
      log,
    }),
    internalAuthToken: config.INTERNAL_AUTH_TOKEN,
    swaggerEnabled: config.SWAGGER_ENABLED,
    requestsMax: config.MAX_REQUESTS_IN_FLIGHT,
  });
  return {
    name: "audit",
    telemetry,
    health,
    ...app,
    async start() {
      await migrateAtStart(writes, SCHEMA, MIGRATIONS, log);
      for (const task of tasks) await task.start();
    },
    async stop() {
      await Promise.all(tasks.map((task) => task.stop()));
      await writer.drained();
      await stores.close();
    },
  };
}
