import {
  databaseUrl,
  flag,
  listenVariables,
  optionalText,
  routeStoreUrl,
  text,
  whole,
} from "@ostiary/lib/config";
import { type Static, Type } from "@sinclair/typebox";

const BODY_BYTES_MAX = 64 * 1024 * 1024;
const DAY_MS = 86_400_000;

/** The registry's variables (Gateway specification, Environment; contract 1 and 3). */
export const registryVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 5002, internal_port: 5003 }),
  DATABASE_URL: databaseUrl(),
  ROUTE_STORE_URL: routeStoreUrl(),
  ADMIN_TOKEN: text("must be the admin API's bearer token, of visible ASCII characters without spaces", {
    pattern: "^[\\x21-\\x7e]+$",
  }),
  SEED_ROUTES_DIR: optionalText("must be a directory of YAML files that are applied at start"),
  MAX_BODY_BYTES: whole(4 * 1024 * 1024, 1, BODY_BYTES_MAX, "Larger request bodies are 413."),
  RECONCILE_INTERVAL_MS: whole(1_000, 10, DAY_MS, "Pause before failed projections are tried again."),
  RECONCILE_FULL_INTERVAL_MS: whole(
    60_000,
    10,
    DAY_MS,
    "How often the whole route store is compared with the database.",
  ),
  SWAGGER_ENABLED: flag(true, "false turns the API's page and document off."),
});

export type RegistryConfig = Static<typeof registryVariables>;
