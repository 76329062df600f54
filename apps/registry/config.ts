import {
  adminToken,
  bodyBytesMax,
  databaseUrl,
  integer,
  listenVariables,
  optionalFolder,
  routeStoreUrl,
  swaggerEnabled,
} from "@ostiary/lib/runtime/config";
import { rolesFileVariable } from "@ostiary/lib/runtime/config/roles-file";
import { type Static, Type } from "@sinclair/typebox";

const DAY_MS = 86_400_000;

/** The registry's variables (Gateway specification, Environment; contract 1 and 3). */
export const registryVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 5002, internal_port: 5003 }),
  DATABASE_URL: databaseUrl(),
  ROUTE_STORE_URL: routeStoreUrl(),
  ADMIN_TOKEN: adminToken(),
  SEED_ROUTES_DIR: optionalFolder("must be a readable directory of YAML files that are applied at start"),
  ROLES_FILE: rolesFileVariable(
    "Identity's roles, to tell which of them may call a route. Read at boot only.",
  ),
  MAX_BODY_BYTES: bodyBytesMax(4 * 1024 * 1024),
  RECONCILE_INTERVAL_MS: integer(1_000, 10, DAY_MS, "Pause before failed projections are tried again."),
  RECONCILE_FULL_INTERVAL_MS: integer(
    60_000,
    10,
    DAY_MS,
    "How often the whole route store is compared with the database.",
  ),
  SWAGGER_ENABLED: swaggerEnabled(),
});

export type RegistryConfig = Static<typeof registryVariables>;
