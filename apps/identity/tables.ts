import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  customType,
  integer,
  jsonb,
  pgSchema,
  primaryKey,
  text,
  timestamp,
} from "drizzle-orm/pg-core";
import type { LifecycleEvent } from "./lifecycle/lifecycle-event.ts";

/**
 * The tables of the database schema `identity` for drizzle. `drizzle/identity` creates them, with keys and
 * checks.
 */
const identity = pgSchema("identity");

const time = () => timestamp({ withTimezone: true, precision: 3, mode: "date" });

export const users = identity.table("users", {
  id: text().primaryKey(),
  display_name: text(),
  status: text({ enum: ["active", "suspended"] }).notNull(),
  created_at: time().notNull(),
  updated_at: time().notNull(),
});

export const idpLinks = identity.table(
  "idp_links",
  {
    issuer: text().notNull(),
    subject: text().notNull(),
    user_id: text().notNull(),
    created_at: time().notNull(),
  },
  ({ issuer, subject }) => [primaryKey({ columns: [issuer, subject] })],
);

export const organizations = identity.table("organizations", {
  id: text().primaryKey(),
  name: text().notNull(),
  created_at: time().notNull(),
  updated_at: time().notNull(),
  created_by: text(),
  plan: text(),
});

export const serviceAccounts = identity.table("service_accounts", {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  name: text().notNull(),
  created_at: time().notNull(),
  updated_at: time().notNull(),
});

export const members = identity.table("members", {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  principal: text({ enum: ["user", "service_account"] }).notNull(),
  user_id: text(),
  service_account_id: text(),
  display_name: text(),
  role: text(),
  status: text({ enum: ["active", "suspended", "removed"] }).notNull(),
  created_at: time().notNull(),
  updated_at: time().notNull(),
});

export const apiKeys = identity.table("api_keys", {
  id: text().primaryKey(),
  user_id: text(),
  member_id: text(),
  hash: text().notNull(),
  key_prefix: text().notNull(),
  name: text().notNull(),
  created_at: time().notNull(),
  revoked_at: time(),
  expires_at: time(),
  last_used_at: time(),
  rotated_to: text(),
});

export const sessions = identity.table("sessions", {
  hash: text().primaryKey(),
  member_id: text().notNull(),
  created_at: time().notNull(),
  expires_at: time().notNull(),
});

export const invites = identity.table("invites", {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  email: text(),
  role: text(),
  token_hash: text().notNull(),
  token_prefix: text().notNull(),
  token: text(),
  status: text({ enum: ["active", "redeemed", "revoked", "expired"] }).notNull(),
  max_uses: integer(),
  use_count: integer().notNull().default(0),
  expires_at: time().notNull(),
  created_at: time().notNull(),
});

export const lifecycleEvents = identity.table("lifecycle_events", {
  id: text().primaryKey(),
  type: text({
    enum: [
      "organization.created",
      "organization.plan_changed",
      "member.created",
      "member.removed",
      "organization.deleted",
    ],
  }).notNull(),
  occurred_at: time().notNull(),
  organization_id: text().notNull(),
  data: jsonb().$type<LifecycleEvent["data"]>().notNull(),
});

const xid8 = customType<{ data: string }>({ dataType: () => "xid8" });

export const admissionChanges = identity.table(
  "admission_changes",
  {
    xid: xid8().notNull().default(sql`pg_current_xact_id()`),
    n: bigint({ mode: "bigint" }).notNull().generatedAlwaysAsIdentity(),
    user_id: text(),
    member_id: text(),
    organization_id: text(),
    readmits: boolean().notNull(),
    recorded_at: time().notNull().default(sql`clock_timestamp()`),
  },
  ({ xid, n }) => [primaryKey({ columns: [xid, n] })],
);

/** Which transactions had ended at a time: all that are older than `oldest`. */
export const endedTransactions = identity.table("ended_transactions", {
  oldest: xid8().notNull().default(sql`pg_snapshot_xmin(pg_current_snapshot())`),
  seen_at: time().primaryKey().default(sql`clock_timestamp()`),
});
