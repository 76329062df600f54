import { type Clock, systemClock } from "@ostiary/lib/async";
import type { Service } from "@ostiary/lib/runtime/service";
import { type Database, migrateAtStart, openWithReads } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { createApp } from "./app.ts";
import type { AuditConfig } from "./config.ts";
import { MIGRATIONS, SCHEMA } from "./database.ts";
import { readLimits } from "./events/sql.ts";
import { Exports } from "./exports/export.ts";
import { PartitionKeeper } from "./partitions/commands.ts";
import { type Proof, wireProof } from "./proof/index.ts";
import { type Shared, wireStreams } from "./streams/wire.ts";
import { usageTeller } from "./usage/feed-sql.ts";
import { quotaSweeper } from "./usage/quota-sql.ts";
import { platformServices } from "./usage/usage.ts";
import { EventWriter } from "./writes/commands.ts";

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
  const parts = await partsOf(config, shared, background);
  const { writer, streams, proof } = parts;
  const app = createApp({
    ...shared,
    streams: streams.handlers,
    published: proof.published,
    health,
    writer,
    platform: platformServices(config),
    exports: exportsOf(config, background, proof),
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
      await migrateAtStart(writes, SCHEMA, MIGRATIONS, telemetry.log);
      await startParts(parts);
    },
    async stop() {
      await stopParts(parts);
      await stores.close();
    },
  };
}

type Parts = Awaited<ReturnType<typeof partsOf>>;

async function partsOf(config: AuditConfig, shared: Shared, background: Shared) {
  const { writes, clock, telemetry } = background;
  const { log } = telemetry;
  const partitions = new PartitionKeeper({ database: writes, log, clock });
  const writer = new EventWriter({
    database: shared.writes,
    clock,
    keepPartitions: () => partitions.keep(),
    tracing: telemetry.exportedTracing,
  });
  const proof = await wireProof(config, background);
  const streams = await wireStreams(config, shared, background);
  const teller = usageTeller({ database: writes, log, clock });
  const quotas = quotaSweeper({ database: writes, log, clock });
  return { partitions, writer, proof, streams, teller, quotas };
}

function exportsOf(config: AuditConfig, { clock, telemetry }: Shared, proof: Proof): Exports {
  return new Exports({
    proof: proof.exports,
    pace: {
      bytesPerSecondMin: config.EXPORT_BYTES_PER_SECOND_MIN,
      lagMsMax: config.EXPORT_LAG_MS_MAX,
    },
    clock,
    log: telemetry.log,
  });
}

async function startParts({ partitions, proof, teller, quotas, streams }: Parts): Promise<void> {
  await partitions.start();
  await proof.start();
  teller.start();
  quotas.start();
  for (const part of streams.background) part.start();
}

/** Stops the background work, and waits for the events that are being written. */
async function stopParts(parts: Parts): Promise<void> {
  const { partitions, writer, proof, teller, quotas, streams } = parts;
  await Promise.all(streams.background.map((part) => part.stop()));
  await teller.stop();
  await quotas.stop();
  await proof.stop();
  await partitions.stop();
  await writer.drained();
}
