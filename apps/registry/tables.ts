import type { RateLimitPolicy } from "@ostiary/lib/domain/routes";
import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  integer,
  json,
  jsonb,
  pgSchema,
  primaryKey,
  text,
  timestamp,
} from "drizzle-orm/pg-core";

/** The tables of the database schema `routes` for drizzle. `drizzle/routes` creates them, with keys and checks. */
const routes = pgSchema("routes");

const fence = () => bigint({ mode: "number" });

/** A table with one row. Every writer updates this row first, so only one writer runs at a time. */
export const writer = routes.table("writer", {
  only_row: boolean().primaryKey().default(true),
  last_fence: fence().notNull(),
});

/** Every service that was ever written. */
export const services = routes.table("services", {
  name: text().primaryKey(),
  revision: integer().notNull(),
  deleted: boolean().notNull(),
  fence: fence().notNull(),
  /** The incarnation: the fence of the write that created the service, also after a deletion. */
  life: fence().notNull(),
  /** The canonical host and port of the current config, or null for a deleted service. */
  address: text(),
  /** The fence that was last projected to the route store, or null before the first projection. */
  projected_fence: fence(),
  /** The time of the oldest write that the route store may lack, or of the last one that it lacked. */
  outstanding_since: timestamp({ withTimezone: true }).notNull().default(sql`clock_timestamp()`),
});

export const revisions = routes.table(
  "revisions",
  {
    service: text().notNull(),
    revision: integer().notNull(),
    action: text({ enum: ["apply", "put", "delete", "restore"] }).notNull(),
    restored_from: integer(),
    /**
     * The config, or null in a revision that deletes the service. Another version of Ostiary may have written the
     * config, so its type is unknown: see `readStoredConfig`.
     */
    config: json().$type<unknown>(),
    request_id: text().notNull(),
    /** The operator who made the write; null for a seed. */
    operator: text(),
    /** The reason and the link that the operator sent with the write, or null. */
    reason: text(),
    link: text(),
    created_at: timestamp({ withTimezone: true }).notNull().default(sql`clock_timestamp()`),
  },
  (table) => [primaryKey({ columns: [table.service, table.revision] })],
);

/**
 * The tests of each revision with tests. Another version of Ostiary may have written the tests, so their type is
 * unknown.
 */
export const routeTests = routes.table(
  "route_tests",
  {
    service: text().notNull(),
    revision: integer().notNull(),
    tests: json().$type<unknown>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.service, table.revision] })],
);

/** The owner of each method and path shape. */
export const ownedRoutes = routes.table(
  "owned_routes",
  {
    method: text().notNull(),
    shape: text().notNull(),
    service: text().notNull(),
    path: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.method, table.shape] })],
);

/** The rate-limit policies that current services declare. */
export const policies = routes.table(
  "policies",
  {
    name: text().notNull(),
    service: text().notNull(),
    shared: boolean().notNull(),
    requests: bigint({ mode: "number" }).notNull(),
    window_seconds: bigint({ mode: "number" }),
    period: text({ enum: ["day", "month"] }),
    plans: jsonb().$type<RateLimitPolicy["plans"]>(),
    charge: text({ enum: ["success"] }),
  },
  (table) => [primaryKey({ columns: [table.name, table.shared, table.service] })],
);
