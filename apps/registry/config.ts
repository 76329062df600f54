import { accessSync, constants, statSync } from "node:fs";
import {
  bodyBytesMax,
  databaseUrl,
  flag,
  integer,
  listenVariables,
  optionalBaseUrl,
  optionalText,
  type Program,
  requestsInFlightMax,
  requiredText,
  routeStoreUrl,
  swaggerEnabled,
  textOr,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { rolesFileVariable } from "@ostiary/lib/runtime/config/roles-file";
import { type Static, Type } from "@sinclair/typebox";
import { operatorVariables } from "./operators/config.ts";

const DAY_MS = 86_400_000;

function isReadableFolder(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The registry's environment variables (OP-5). */
export const registryVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 5002, internal_port: 5003 }),
  DATABASE_URL: databaseUrl(
    "The database of services and their revisions. The registry uses the database schema routes.",
  ),
  ...tlsVariables("DATABASE"),
  ROUTE_STORE_URL: routeStoreUrl(),
  ...tlsVariables("ROUTE_STORE"),
  ADMIN_TOKEN: requiredText(
    "must be the admin API's bearer token, of visible ASCII characters without spaces",
    {
      pattern: "^[\x21-\x7e]+$",
      secret: true,
      description: "The holder of this token can publish and delete routes.",
    },
  ),
  ...operatorVariables,
  SEED_ROUTES_DIR: optionalText("must be a readable directory of YAML files that are applied at start", {
    check: isReadableFolder,
    description:
      "For development: YAML files that the registry applies at start, in the order of names, to services without a history.",
  }),
  ROLES_FILE: rolesFileVariable(
    "Identity's roles file, read at start. If it is set, the lookup of a route can decide whether a role may use the route.",
  ),
  MAX_BODY_BYTES: bodyBytesMax(4 * 1024 * 1024),
  RECONCILE_INTERVAL_MS: integer(
    { default: 1_000, min: 10, max: DAY_MS },
    "The interval at which the registry retries outstanding projections. After failures the interval doubles, up to eightfold.",
  ),
  RECONCILE_FULL_INTERVAL_MS: integer(
    { default: 60_000, min: 10, max: DAY_MS },
    "The interval at which the registry compares the whole route store with the database.",
  ),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(2_000),
  SWAGGER_ENABLED: swaggerEnabled(),
  CONSOLE_ENABLED: flag(true, "false removes the console, the operators' page at /console."),
  EDGE_DOCUMENT_PUBLIC: flag(false, "Whether the edge description can be read without a token."),
  EDGE_DOCUMENT_TITLE: textOr("Edge API", "must be the title of the edge description", {
    description: "The title of the edge description.",
  }),
  EDGE_DOCUMENT_SERVER_URL: optionalBaseUrl(
    "Public URL of the gateway, such as https://api.example.com, for the edge description.",
  ),
  EDGE_DOCUMENT_REFRESH_MS: integer(
    { default: 60_000, min: 10, max: DAY_MS },
    "The interval at which the registry reads the OpenAPI descriptions of services.",
  ),
});

/** Describes the registry for `--help` and for hints on misspelled variables. */
export const registryProgram: Program = {
  app: "registry",
  about:
    "The registry keeps the routes that operators publish, and projects them to etcd, where the gateways read them.",
  variables: registryVariables,
};

export type RegistryConfig = Static<typeof registryVariables>;
