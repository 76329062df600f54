import { integer, jsonb, pgSchema, text, timestamp } from "drizzle-orm/pg-core";
import type { LifecycleEvent } from "./lifecycle/lifecycle-event.ts";

/** The tables of schema `identity` as drizzle sees them; `drizzle/identity` creates them, with keys and checks. */
const identity = pgSchema("identity");

const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

export const users = identity.table("users", {
  id: text("id").primaryKey(),
  displayName: text("display_name"),
  status: text("status", { enum: ["active", "suspended"] }).notNull(),
  createdAt: moment("created_at").notNull(),
  updatedAt: moment("updated_at").notNull(),
});

export const idpLinks = identity.table("idp_links", {
  issuer: text("issuer").notNull(),
  subject: text("subject").notNull(),
  userId: text("user_id").notNull(),
  createdAt: moment("created_at").notNull(),
});

export const organizations = identity.table("organizations", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  createdAt: moment("created_at").notNull(),
  updatedAt: moment("updated_at").notNull(),
});

export const serviceAccounts = identity.table("service_accounts", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  name: text("name").notNull(),
  createdAt: moment("created_at").notNull(),
  updatedAt: moment("updated_at").notNull(),
});

export const members = identity.table("members", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  principal: text("principal", { enum: ["user", "service_account"] }).notNull(),
  userId: text("user_id"),
  serviceAccountId: text("service_account_id"),
  displayName: text("display_name"),
  role: text("role"),
  status: text("status", { enum: ["active", "suspended", "removed"] }).notNull(),
  createdAt: moment("created_at").notNull(),
  updatedAt: moment("updated_at").notNull(),
});

export const apiKeys = identity.table("api_keys", {
  id: text("id").primaryKey(),
  userId: text("user_id"),
  memberId: text("member_id"),
  hash: text("hash").notNull(),
  keyPrefix: text("key_prefix").notNull(),
  name: text("name").notNull(),
  createdAt: moment("created_at").notNull(),
  revokedAt: moment("revoked_at"),
});

export const sessions = identity.table("sessions", {
  hash: text("hash").primaryKey(),
  memberId: text("member_id").notNull(),
  createdAt: moment("created_at").notNull(),
  expiresAt: moment("expires_at").notNull(),
});

export const invites = identity.table("invites", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  email: text("email"),
  role: text("role"),
  tokenHash: text("token_hash").notNull(),
  tokenPrefix: text("token_prefix").notNull(),
  token: text("token"),
  status: text("status", { enum: ["active", "redeemed", "revoked", "expired"] }).notNull(),
  maxUses: integer("max_uses"),
  useCount: integer("use_count").notNull(),
  expiresAt: moment("expires_at").notNull(),
  createdAt: moment("created_at").notNull(),
});

export const lifecycleEvents = identity.table("lifecycle_events", {
  id: text("id").primaryKey(),
  type: text("type", {
    enum: ["organization.created", "member.created", "member.removed", "organization.deleted"],
  }).notNull(),
  occurredAt: moment("occurred_at").notNull(),
  organizationId: text("organization_id").notNull(),
  data: jsonb("data").$type<LifecycleEvent["data"]>().notNull(),
});
