import { type SQL, sql } from "drizzle-orm";
import type { IdentityHarness } from "./bed.ts";

/** Returns SQL for the id of row `number`: a ULID with this prefix. The ids sort by number. */
const ids = (prefix: string) =>
  sql.raw(`'01KA4YB0Q9${prefix}' || lpad(number::text, ${16 - prefix.length}, '0')`);
const now = sql.raw("'2026-01-01T00:00:00Z'::timestamptz");
/** The rows that one statement inserts: few enough for the statement timeout on a busy machine. */
const STATEMENT_ROWS = 10_000;

/** Updates the planner statistics, which bulk inserts make stale. */
export async function analyze({ database }: IdentityHarness): Promise<void> {
  await database.run("analyze", (orm) => orm.execute(sql`analyze`));
}

/**
 * Turns off foreign key checks if the database user may, which is faster. The references are valid anyway.
 */
const unchecked = sql`select set_config('session_replication_role', 'replica', true)
  from pg_roles where rolname = current_user and rolsuper`;

/**
 * Runs `statement` for the numbers from 1 to `count`, in chunks. `series` is the table of a chunk's numbers.
 */
async function fill(
  { database }: IdentityHarness,
  count: number,
  statement: (series: SQL) => SQL,
): Promise<void> {
  for (let from = 1; from <= count; from += STATEMENT_ROWS) {
    const to = Math.min(from + STATEMENT_ROWS - 1, count);
    const series = sql.raw(`generate_series(${from}, ${to}) number`);
    await database.transaction("fill", async (tx) => {
      await tx.execute(unchecked);
      await tx.execute(statement(series));
    });
  }
}

/**
 * Adds new people to an organization as members. The prefix makes their ids different from other bulk data.
 */
export async function addManyMembers(
  identity: IdentityHarness,
  organization_id: string,
  prefix: string,
  rows: number,
) {
  await fill(
    identity,
    rows,
    (series) =>
      sql`insert into identity.users select ${ids(`${prefix}A`)}, null, 'active', ${now}, ${now} from ${series}`,
  );
  await fill(
    identity,
    rows,
    (series) => sql`insert into identity.members
      (id, organization_id, principal, user_id, role, status, created_at, updated_at)
      select ${ids(`${prefix}B`)}, ${organization_id}, 'user', ${ids(`${prefix}A`)}, 'member', 'active', ${now}, ${now}
      from ${series}`,
  );
}

export async function addManyServiceAccounts(
  identity: IdentityHarness,
  organization_id: string,
  prefix: string,
  rows: number,
) {
  await fill(
    identity,
    rows,
    (series) => sql`insert into identity.service_accounts
      select ${ids(`${prefix}C`)}, ${organization_id}, 'Bot', ${now}, ${now} from ${series}`,
  );
  await fill(
    identity,
    rows,
    (series) => sql`insert into identity.members
      (id, organization_id, principal, service_account_id, role, status, created_at, updated_at)
      select ${ids(`${prefix}D`)}, ${organization_id}, 'service_account', ${ids(`${prefix}C`)}, 'viewer', 'active',
        ${now}, ${now} from ${series}`,
  );
}

/** Adds one key for each member that {@link addManyMembers} added with this prefix. */
export function addKeyOfEachMember(identity: IdentityHarness, prefix: string, rows: number) {
  return fill(
    identity,
    rows,
    (series) => sql`insert into identity.api_keys (id, member_id, hash, key_prefix, name, created_at)
      select ${ids(`${prefix}E`)}, ${ids(`${prefix}B`)}, md5(${ids(`${prefix}E`)}), 'acme-k-2-bulk', 'Bulk', ${now}
      from ${series}`,
  );
}

export function addManyKeys(
  identity: IdentityHarness,
  owner: { user_id: string } | { member_id: string },
  prefix: string,
  rows: number,
) {
  const [[column, id] = ["", ""]] = Object.entries(owner);
  return fill(
    identity,
    rows,
    (
      series,
    ) => sql`insert into identity.api_keys (id, ${sql.identifier(column)}, hash, key_prefix, name, created_at)
      select ${ids(`${prefix}F`)}, ${id}, md5(${ids(`${prefix}F`)}), 'acme-k-2-bulk', 'Bulk', ${now}
      from ${series}`,
  );
}

export function addManyInvites(
  identity: IdentityHarness,
  organization_id: string,
  prefix: string,
  rows: number,
) {
  return fill(
    identity,
    rows,
    (series) => sql`insert into identity.invites
      (id, organization_id, role, token_hash, token_prefix, token, status, max_uses, use_count, expires_at, created_at)
      select ${ids(`${prefix}G`)}, ${organization_id}, 'member', md5(${ids(`${prefix}G`)}), 'inv_bulk',
        ${ids(`${prefix}G`)}, 'active', 1, 0, ${now} + interval '1 day', ${now}
      from ${series}`,
  );
}

export function addManyEvents(
  identity: IdentityHarness,
  organization_id: string,
  prefix: string,
  rows: number,
) {
  return fill(
    identity,
    rows,
    (series) => sql`insert into identity.lifecycle_events (id, type, occurred_at, organization_id, data)
      select ${ids(`${prefix}L`)}, 'organization.created', ${now}, ${organization_id}, '{}'
      from ${series}`,
  );
}

/** Adds `count` organizations. In each of them, `owner` is the owner and `member` is another member. */
export async function addManyMemberships(
  identity: IdentityHarness,
  { member, owner }: { member: string; owner: string },
  prefix: string,
  rows: number,
) {
  await fill(
    identity,
    rows,
    (series) =>
      sql`insert into identity.organizations select ${ids(`${prefix}H`)}, 'Bulk', ${now}, ${now} from ${series}`,
  );
  await fill(
    identity,
    rows,
    (series) => sql`insert into identity.members
      (id, organization_id, principal, user_id, role, status, created_at, updated_at)
      select ${ids(`${prefix}J`)}, ${ids(`${prefix}H`)}, 'user', ${owner}, 'owner', 'active', ${now}, ${now} from ${series}`,
  );
  await fill(
    identity,
    rows,
    (series) => sql`insert into identity.members
      (id, organization_id, principal, user_id, role, status, created_at, updated_at)
      select ${ids(`${prefix}K`)}, ${ids(`${prefix}H`)}, 'user', ${member}, 'member', 'active', ${now}, ${now} from ${series}`,
  );
}
