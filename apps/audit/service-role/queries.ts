import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";

/** What of an event its intent brings, and what its outcome does: all else the database fills in itself. */
const INTENT_COLUMNS =
  "id, occurred_at, request_id, organization_id, user_id, actor_member_id, actor_auth_type, actor_key_prefix, service, method, route, params, ip, user_agent, intent_salt";
const OUTCOME_COLUMNS =
  "outcome, status, details, created_id, outcome_salt, organization_id, actor_member_id";

/** All that the service does, and no more. */
const GRANTS = [
  "usage on schema audit",
  `select, insert (${INTENT_COLUMNS}), update (${OUTCOME_COLUMNS}) on audit.audit_events`,
  "select, insert on audit.request_ids, audit.event_params, audit.checkpoints, audit.entries",
  "select, insert (kid, x) on audit.signing_keys",
  "select, insert, update on audit.chains",
  "select, update on audit.sealer",
  "select on audit.schema_migrations",
  "usage on sequence audit.chain_ids",
  "execute on function audit.make_partition(text)",
];

/** How a role stands to the log. */
export interface RoleState {
  /** It is bound by no trigger and no grant. */
  is_superuser: boolean;
  /** It is the owner of the log, or can become it. */
  is_owner: boolean;
}

/** Null for a role that does not exist. */
export async function selectRole(tx: Orm, role: string): Promise<RoleState | null> {
  const [found] = await rows<RoleState>(
    tx,
    sql`select rolsuper as is_superuser,
          exists (select from pg_class owned where owned.relnamespace = 'audit'::regnamespace
            and pg_has_role(r.oid, owned.relowner, 'member')) as is_owner
        from pg_roles r where rolname = ${role}`,
  );
  return found ?? null;
}

export async function createRole(tx: Orm, role: string): Promise<void> {
  await rows(tx, sql`create role ${sql.identifier(role)} login`);
}

/** Takes from the role what it was ever given of the log, and gives it the service's work. */
export async function grantWork(tx: Orm, role: string): Promise<void> {
  const to = sql.identifier(role);
  const revoke = (what: SQL) => rows(tx, sql`revoke all on ${what} from ${to}`);
  await revoke(sql`all tables in schema audit`);
  await revoke(sql`all sequences in schema audit`);
  await revoke(sql`all functions in schema audit`);
  await revoke(sql`schema audit`);
  for (const grant of GRANTS) await rows(tx, sql`grant ${sql.raw(grant)} to ${to}`);
}
