import { type Clock, systemClock } from "@ostiary/lib/async";
import type { Service } from "@ostiary/lib/runtime/service";
import { type Database, migrateAtStart, openWithReads } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { createApp } from "./app.ts";
import type { AuditConfig } from "./config.ts";
import { MIGRATIONS, SCHEMA } from "./database-schema.ts";
import { readLimits } from "./events/sql.ts";
import { Exports } from "./exports/export.ts";
import { PartitionKeeper } from "./partitions/commands.ts";
import { Sealer } from "./sealing/sealer.ts";
import { loadSigningKey } from "./signing-key/key-file.ts";
import { publishSigningKey } from "./signing-key/publish-key.ts";
import { type Shared, wireStreams } from "./streams/wire.ts";
import { usageTeller } from "./usage/feed/usage-event-writer.ts";
import { platformServices } from "./usage/platform-services.ts";
import { quotaSweeper } from "./usage/quotas/sweeper.ts";
import { type Witnesses, wireWitnesses } from "./witnesses/wire.ts";
import { EventWriter } from "./writes/commands.ts";

/** Connections for writes, separate from the connections for reads, so that readers cannot delay writes of events. */
const WRITE_CONNECTIONS = 5;

/**
 * The time that an export waits for the sealer in addition to the seal interval. It is long enough for a pass, or for
 * another replica to take over.
 */
const SEAL_WAIT_MS = 4_000;

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
  const { writer, streams, witnesses } = parts;
  const app = createApp({
    ...shared,
    streams: streams.handlers,
    selectRoot: witnesses.selectRoot,
    health,
    writer,
    platform: platformServices(config),
    exports: exportsOf(config, background, witnesses),
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
      await startParts(parts, writes);
    },
    async stop() {
      await stopParts(parts);
      await stores.close();
    },
  };
}

type Parts = Awaited<ReturnType<typeof partsOf>>;

/** Builds the parts that outlive a request. */
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
  const keyFile = config.AUDIT_SIGNING_KEY_FILE;
  const key = keyFile === undefined ? null : await loadSigningKey(keyFile);
  const sealer = new Sealer({
    ...background,
    key,
    origin: config.AUDIT_LOG_ORIGIN,
    intervalMs: config.SEAL_INTERVAL_MS,
    log,
    metrics: telemetry.metrics,
  });
  const streams = await wireStreams(config, shared, background);
  const witnesses = wireWitnesses(config, { ...background, isSealing: () => sealer.isSealing });
  const teller = usageTeller({ database: writes, log, clock });
  const quotas = quotaSweeper({ database: writes, log, clock });
  return { partitions, writer, key, sealer, streams, witnesses, teller, quotas };
}

function exportsOf(
  config: AuditConfig,
  { reads, clock, telemetry }: Shared,
  { cosigned }: Witnesses,
): Exports {
  return new Exports({
    database: reads,
    pace: {
      bytesPerSecondMin: config.EXPORT_BYTES_PER_SECOND_MIN,
      lagMsMax: config.EXPORT_LAG_MS_MAX,
    },
    sealWaitMsMax: config.SEAL_INTERVAL_MS + SEAL_WAIT_MS,
    cosigned,
    clock,
    log: telemetry.log,
  });
}

/** Starts the background work, and publishes the key before anything is signed with it. */
async function startParts(
  { partitions, key, sealer, teller, quotas, streams, witnesses }: Parts,
  writes: Database,
): Promise<void> {
  await partitions.start();
  if (key !== null) await publishSigningKey(writes, key);
  sealer.start();
  teller.start();
  quotas.start();
  for (const part of streams.background) part.start();
  witnesses.witnessing?.start();
}

/** Stops the background work, and waits for the events that are being written. */
async function stopParts(parts: Parts): Promise<void> {
  const { partitions, writer, sealer, teller, quotas, streams, witnesses } = parts;
  await Promise.all(streams.background.map((part) => part.stop()));
  await witnesses.witnessing?.stop();
  await teller.stop();
  await quotas.stop();
  await sealer.stop();
  await partitions.stop();
  await writer.drained();
}
