import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";

/** The columns that an intent and an outcome write; the database fills in all others. */
const INTENT_COLUMNS =
  "id, occurred_at, request_id, organization_id, user_id, actor_member_id, actor_auth_type, actor_key_prefix, service, method, route, params, ip, user_agent, intent_salt";
const OUTCOME_COLUMNS =
  "outcome, status, details, created_id, outcome_salt, organization_id, actor_member_id";

/** The columns of the sealer's state. */
const STATE_COLUMNS = "passes, holder, passed_at, sealed_to, note";

/** The rights that the service needs, and no others. */
const GRANTS = [
  "usage on schema audit",
  `select, insert (${INTENT_COLUMNS}), update (${OUTCOME_COLUMNS}) on audit.audit_events`,
  "select, insert on audit.request_ids, audit.event_params, audit.entries, audit.leaves, audit.trees, audit.head_map",
  "select, insert, update on audit.chains",
  "select, insert, delete on audit.altered_chains, audit.cosignatures",
  "select, insert, update, delete on audit.streams",
  "select, insert, update on audit.operator_stream, audit.operator_stream_positions",
  "select, insert, update on audit.usage_counts, audit.usage_reporters",
  "select, insert, update, delete on audit.usage_pending, audit.quota_counts",
  "select, insert on audit.usage_events",
  `select, update (${STATE_COLUMNS}) on audit.sealer`,
  "select on audit.declarations, audit.dropped_contents, audit.schema_migrations",
  "usage on sequence audit.chain_ids",
  "execute on function audit.make_partition(text)",
];

/** The relation of a role to the log. */
interface RoleState {
  /** Whether the role bypasses triggers and grants. */
  is_superuser: boolean;
  /** Whether the role owns the log, or can become its owner. */
  is_owner: boolean;
}

/** Returns the state of a role, or null if it does not exist. */
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

/** Revokes all rights on the log from the role, then grants those of the service. */
export async function grantWork(tx: Orm, role: string): Promise<void> {
  const to = sql.identifier(role);
  const revoke = (what: SQL) => rows(tx, sql`revoke all on ${what} from ${to}`);
  await revoke(sql`all tables in schema audit`);
  await revoke(sql`all sequences in schema audit`);
  await revoke(sql`all functions in schema audit`);
  await revoke(sql`schema audit`);
  for (const grant of GRANTS) await rows(tx, sql`grant ${sql.raw(grant)} to ${to}`);
}
