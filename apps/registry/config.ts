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
  requestsInFlightMax,
  routeStoreUrl,
  swaggerEnabled,
  textOr,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { rolesFileVariable } from "@ostiary/lib/runtime/config/roles-file";
import { type Static, Type } from "@sinclair/typebox";

const DAY_MS = 86_400_000;

/** The registry's variables (Gateway specification, Environment; contract 1 and 3). */
export const registryVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 5002, internal_port: 5003 }),
  DATABASE_URL: databaseUrl("Where services and their revisions are kept, in the schema routes."),
  ...tlsVariables("DATABASE"),
  ROUTE_STORE_URL: routeStoreUrl(),
  ...tlsVariables("ROUTE_STORE"),
  ADMIN_TOKEN: adminToken(),
  SEED_ROUTES_DIR: optionalFolder(
    "must be a readable directory of YAML files that are applied at start",
    "Its *.yaml and *.yml files are applied in name order, for services that have no history: for development.",
  ),
  ROLES_FILE: rolesFileVariable(
    "Identity's roles, read at boot: the look-up of a route then tells by role who may use it.",
  ),
  MAX_BODY_BYTES: bodyBytesMax(4 * 1024 * 1024),
  RECONCILE_INTERVAL_MS: integer(
    1_000,
    10,
    DAY_MS,
    "Pause before failed projections are tried again, doubled up to eightfold.",
  ),
  RECONCILE_FULL_INTERVAL_MS: integer(
    60_000,
    10,
    DAY_MS,
    "How often the whole route store is compared with the database.",
  ),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(2_000),
  SWAGGER_ENABLED: swaggerEnabled(),
  CONSOLE_ENABLED: consoleEnabled(),
  EDGE_DOCUMENT_PUBLIC: flag(false, "true shows the document of the edge without the admin token."),
  EDGE_DOCUMENT_TITLE: textOr("API", "must be the title of the edge's document", {
    description: "The title of the document for clients of the gateway.",
  }),
  EDGE_DOCUMENT_SERVER_URL: optionalBaseUrl(
    "Where clients call the gateway, such as https://api.example.com, as that document says it.",
  ),
  EDGE_DOCUMENT_REFRESH_MS: integer(
    60_000,
    10,
    DAY_MS,
    "How often services are asked for their OpenAPI documents.",
  ),
});

export type RegistryConfig = Static<typeof registryVariables>;
