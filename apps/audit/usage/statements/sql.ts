import type { ProofEnd } from "@ostiary/lib/contracts/audit";
import type { Statement } from "@ostiary/lib/domain/proof";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import type { MonthPart } from "./due-months-sql.ts";

/** A statement at its position in a chain, and the versions of its sums. */
interface StatementWrite {
  chain_id: number;
  position: number;
  /** The running hash, in hexadecimal like the salt. */
  chain: string;
  salt: string;
  organization_id: string;
  month: string;
  number: number;
  stated_at: string;
  statement: Statement;
  parts: Pick<MonthPart, "service" | "policy" | "changes">[];
}

/**
 * Returns the common table expressions of a pass that write statements. A month stays due, and gets a correction, if
 * a report changes the month's sums after the pass has read the sums. The pass does not wait for that report.
 */
export function statementsWritten(statements: readonly StatementWrite[]): SQL {
  const given = sql`json_to_recordset(${JSON.stringify(statements)}::text::json) as given(
    chain_id bigint, position bigint, chain text, salt text, organization_id text, month text, number integer,
    stated_at timestamptz, statement json, parts json)`;
  return sql`stated as (
      insert into audit.statements (chain_id, position, organization_id, month, number, stated_at, statement, chain, salt)
      select chain_id, position, organization_id, month, number, stated_at, statement, decode(chain, 'hex'),
        decode(salt, 'hex')
      from turned, ${given}
    ),
    unchanged as materialized (
      select sums.organization_id, sums.month, sums.service, sums.policy
      from turned, ${given}
        cross join lateral json_to_recordset(given.parts) as seen(service text, policy text, changes bigint)
        join audit.usage_months sums on sums.organization_id = given.organization_id and sums.month = given.month
          and sums.service = seen.service and sums.policy = seen.policy and sums.changes = seen.changes
      for update of sums skip locked
    ),
    settled as (
      update audit.usage_months sums set is_stated = true from unchanged
      where sums.organization_id = unchanged.organization_id and sums.month = unchanged.month
        and sums.service = unchanged.service and sums.policy = unchanged.policy
    ),`;
}

/** Returns the statements of a chain up to a sealed position, in chain order, in the form of an export with proof. */
export async function selectSealedStatements(
  database: Database,
  { chain_id, position }: { chain_id: number | null; position: number },
): Promise<NonNullable<ProofEnd["statements"]>> {
  const found = await query<{ position: number; salt: string; chain: string; statement: Statement }>(
    database,
    "select_sealed_statements",
  )`
    select position, encode(salt, 'hex') as salt, encode(chain, 'hex') as chain, statement
      from audit.statements where chain_id = ${chain_id ?? 0}::bigint and position <= ${position}::bigint
      order by position`;
  return found.map(({ statement, ...place }) => ({ ...statement, ...place }));
}

/** A request for statements of an organization. */
interface StatementsRequest {
  organization_id: string;
  /** The month of the statements, or null for all months. */
  month: string | null;
  /** The id of the last statement of the previous page, or null for the first page. */
  starting_after: string | null;
}

/** The row of a statement, with its position in the chain. */
export interface StatementRow {
  position: number;
  statement: Statement;
  /** The number of statements that the month has now. */
  stated: number;
}

/** Returns at most `limit` statements of an organization, the newest month and its newest statement first. */
export function selectStatements(
  database: Database,
  { organization_id, month, starting_after }: StatementsRequest,
  limit: number,
): Promise<StatementRow[]> {
  const [afterMonth = "", afterNumber = ""] = starting_after?.split(".") ?? [];
  const ofMonth = month === null ? sql`` : sql` and month = ${month}`;
  const after =
    starting_after === null
      ? sql``
      : sql` and (month, number) < (${afterMonth}, ${afterNumber}::text::integer)`;
  return query<StatementRow>(database, "select_statements")`
    select position, statement,
        (select max(number) from audit.statements last
          where last.organization_id = stated.organization_id and last.month = stated.month) as stated
      from audit.statements stated where organization_id = ${organization_id}${ofMonth}${after}
      order by month desc, number desc limit ${limit}`;
}
