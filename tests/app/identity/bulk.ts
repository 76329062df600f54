import { type SQL, sql } from "drizzle-orm";
import type { IdentityBed } from "./bed.ts";

/** Returns SQL for the id of row `number`: a ULID with this prefix. The ids sort by number. */
const ids = (prefix: string) =>
  sql.raw(`'01KA4YB0Q9${prefix}' || lpad(number::text, ${16 - prefix.length}, '0')`);
const now = sql.raw("'2026-01-01T00:00:00Z'::timestamptz");
const TIMES = { created_at: now, updated_at: now };
/** The rows that one statement inserts: few enough for the statement timeout on a busy machine. */
const STATEMENT_ROWS = 10_000;

/** Updates the planner statistics, which bulk inserts make stale. */
export async function analyze({ database }: IdentityBed): Promise<void> {
  await database.run("analyze", (orm) => orm.execute(sql`analyze`));
}

/**
 * Turns off foreign key checks if the database user may, which is faster. The references are valid anyway.
 */
const unchecked = sql`select set_config('session_replication_role', 'replica', true)
  from pg_roles where rolname = current_user and rolsuper`;

/** Inserts rows with the numbers from 1 to `count` into a table, in chunks. `values` has the value of each column. */
async function fill(
  { database }: IdentityBed,
  table: string,
  count: number,
  values: Record<string, SQL | string>,
): Promise<void> {
  const columns = sql.raw(Object.keys(values).join());
  const row = sql.join(
    Object.values(values).map((value) => sql`${value}`),
    sql`, `,
  );
  for (let from = 1; from <= count; from += STATEMENT_ROWS) {
    const series = sql.raw(`generate_series(${from}, ${Math.min(from + STATEMENT_ROWS - 1, count)}) number`);
    await database.transaction("fill", async (tx) => {
      await tx.execute(unchecked);
      await tx.execute(
        sql`insert into identity.${sql.identifier(table)} (${columns}) select ${row} from ${series}`,
      );
    });
  }
}

/**
 * Adds new people to an organization as members. The prefix makes their ids different from other bulk data.
 */
export async function addManyMembers(
  identity: IdentityBed,
  organization_id: string,
  prefix: string,
  rows: number,
) {
  const user_id = ids(`${prefix}A`);
  await fill(identity, "users", rows, { id: user_id, status: "active", ...TIMES });
  const member = { id: ids(`${prefix}B`), organization_id, principal: "user", user_id, role: "member" };
  await fill(identity, "members", rows, { ...member, status: "active", ...TIMES });
}

export async function addManyServiceAccounts(
  identity: IdentityBed,
  organization_id: string,
  prefix: string,
  rows: number,
) {
  const id = ids(`${prefix}C`);
  await fill(identity, "service_accounts", rows, { id, organization_id, name: "Bot", ...TIMES });
  const member = { id: ids(`${prefix}D`), organization_id, principal: "service_account", role: "viewer" };
  await fill(identity, "members", rows, { ...member, service_account_id: id, status: "active", ...TIMES });
}

function addKeys(identity: IdentityBed, rows: number, id: SQL, owner: Record<string, SQL | string>) {
  const key = { id, hash: sql`md5(${id})`, key_prefix: "acme-k-2-bulk", name: "Bulk", created_at: now };
  return fill(identity, "api_keys", rows, { ...key, ...owner });
}

/** Adds one key for each member that {@link addManyMembers} added with this prefix. */
export function addKeyOfEachMember(identity: IdentityBed, prefix: string, rows: number) {
  return addKeys(identity, rows, ids(`${prefix}E`), { member_id: ids(`${prefix}B`) });
}

export function addManyKeys(
  identity: IdentityBed,
  owner: { user_id: string } | { member_id: string },
  prefix: string,
  rows: number,
) {
  return addKeys(identity, rows, ids(`${prefix}F`), owner);
}

export function addManyInvites(identity: IdentityBed, organization_id: string, prefix: string, rows: number) {
  const id = ids(`${prefix}G`);
  return fill(identity, "invites", rows, {
    id,
    organization_id,
    role: "member",
    token_hash: sql`md5(${id})`,
    token_prefix: "inv_bulk",
    token: id,
    status: "active",
    max_uses: sql`1`,
    created_at: now,
    expires_at: sql`${now} + interval '1 day'`,
  });
}

export function addManyEvents(identity: IdentityBed, organization_id: string, prefix: string, rows: number) {
  const event = { id: ids(`${prefix}L`), type: "organization.created", occurred_at: now, organization_id };
  return fill(identity, "lifecycle_events", rows, { ...event, data: sql`'{}'::jsonb` });
}

/** Adds `count` organizations. In each of them, `owner` is the owner and `member` is another member. */
export async function addManyMemberships(
  identity: IdentityBed,
  { member, owner }: { member: string; owner: string },
  prefix: string,
  rows: number,
) {
  const organization_id = ids(`${prefix}H`);
  await fill(identity, "organizations", rows, { id: organization_id, name: "Bulk", ...TIMES });
  const membership = { organization_id, principal: "user", status: "active", ...TIMES };
  const [first, second] = [ids(`${prefix}J`), ids(`${prefix}K`)];
  await fill(identity, "members", rows, { ...membership, id: first, user_id: owner, role: "owner" });
  await fill(identity, "members", rows, { ...membership, id: second, user_id: member, role: "member" });
}
