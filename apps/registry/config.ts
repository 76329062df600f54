import {
  adminToken,
  bodyBytesMax,
  consoleEnabled,
  databaseUrl,
  flag,
  integer,
  listenVariables,
  optionalBaseUrl,
  optionalFolder,
  routeStoreUrl,
  swaggerEnabled,
  textOr,
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
  CONSOLE_ENABLED: consoleEnabled(),
  EDGE_DOCUMENT_PUBLIC: flag(false, "true shows the document of the edge without the admin token."),
  EDGE_DOCUMENT_TITLE: textOr("API", "must be the title of the edge's document"),
  EDGE_DOCUMENT_SERVER_URL: optionalBaseUrl("Where clients call the gateway."),
  EDGE_DOCUMENT_REFRESH_MS: integer(
    60_000,
    10,
    DAY_MS,
    "How often services are asked for their OpenAPI documents.",
  ),
});

export type RegistryConfig = Static<typeof registryVariables>;
