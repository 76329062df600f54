import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import type { ChainRow } from "../seal/chain-sql.ts";

/** Removes the entries of a chain from a position on, so that events that still exist are sealed again. */
export async function forget(tx: Orm, { id, owner, position }: ChainRow, from: number): Promise<void> {
  const bigint = (value: number) => sql`${String(value)}::text::bigint`;
  for (const table of ["entries", "declarations"]) {
    const name = sql`audit.${sql.identifier(table)}`;
    await rows(tx, sql`alter table ${name} disable trigger no_change`);
    // the declaration of the restart follows the sealed head
    await rows(
      tx,
      sql`delete from ${name} where chain_id = ${bigint(id)} and position >= ${bigint(from)}
        and (position <= ${bigint(position)} or ${table === "entries"}::boolean)`,
    );
    await rows(tx, sql`alter table ${name} enable trigger no_change`);
  }
  await rows(
    tx,
    sql`insert into audit.altered_chains (owner, reason) values (${owner}, 'the chain was restarted')
      on conflict do nothing`,
  );
}

/** Stores the first signed root of a tree. */
export async function storeFirstNote(tx: Orm, note: string): Promise<boolean> {
  await rows(tx, sql`update audit.sealer set note = ${note}`);
  return true;
}

/** Returns the heads of all chains, as stored. The hashes are in hexadecimal. */
export function selectHeads(tx: Orm): Promise<{ owner: string; position: number; chain: string }[]> {
  return rows(tx, sql`select owner, position, encode(chain, 'hex') as chain from audit.chains`);
}
