import { systemClock } from "@ostiary/lib/async";
import { loadRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import type { Service } from "@ostiary/lib/runtime/service";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { type Database, migrateAtStart, openWithReads } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { lastUseWriter } from "./api-keys/last-use-writer.ts";
import { createApp } from "./app.ts";
import type { IdentityConfig } from "./config.ts";
import { createDependencies } from "./dependencies.ts";
import { expirySweeper } from "./expiry-sweeper.ts";
import type { Peppers } from "./secret-hashes.ts";
import { validationLimits } from "./validations/validation-sql.ts";

const SCHEMA = "identity";
const MIGRATIONS = shippedFile("drizzle/identity");

/** Builds the identity service. `given.database` is shared with other services and stays open when identity stops. */
export async function wireIdentity(
  config: IdentityConfig,
  given: { database?: Database } = {},
): Promise<Service> {
  const file = config.ROLES_FILE === undefined ? null : loadRolesFile(config.ROLES_FILE);
  const telemetry = await createTelemetry({ name: "identity", namespace: "identity" }, config);
  const { log } = telemetry;
  if (file === null) log.warn({}, "roles are off: ROLES_FILE is not set, and every member may do everything");
  const options = { namespace: SCHEMA, observer: telemetry.observeStore };
  const { database, reads, close } = await openWithReads(config, options, validationLimits, given.database);
  const deps = createDependencies({
    database,
    validations: reads,
    rolesFile: file,
    brand: config.APIKEY_BRAND,
    clock: systemClock,
    peppers: peppersOf(config),
    apiKeyMaxAgeSeconds: config.APIKEY_MAX_AGE_SECONDS ?? null,
    organizationsPerPersonMax: config.ORGANIZATIONS_PER_PERSON_MAX,
    defaultPlan: config.DEFAULT_PLAN ?? null,
    tracing: telemetry.exportedTracing,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  });
  const health = { draining: false };
  const handlers = createApp({
    deps,
    telemetry,
    health,
    internalAuthToken: config.INTERNAL_AUTH_TOKEN,
    swaggerEnabled: config.SWAGGER_ENABLED,
    requestsMax: config.MAX_REQUESTS_IN_FLIGHT,
  });
  const background = { ...deps, database: database.inBackground() };
  const sweeper = expirySweeper(background, log);
  const uses = lastUseWriter(background, log);
  return {
    name: "identity",
    telemetry,
    health,
    public: { fetch: handlers.public },
    internal: { fetch: handlers.internal },
    async start() {
      await migrateAtStart(database, SCHEMA, MIGRATIONS, log);
      sweeper.start();
      uses.start();
    },
    async stop() {
      await Promise.all([sweeper.stop(), uses.stop()]);
      await close();
    },
  };
}

function peppersOf(config: IdentityConfig): Peppers {
  return {
    current: config.SECRET_PEPPER ?? null,
    previous: config.SECRET_PEPPER_PREVIOUS ?? null,
    plainAccepted: config.PLAIN_HASHES_ACCEPTED,
  };
}
