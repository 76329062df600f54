import {
  type Hash,
  hashFromHex,
  hexOf,
  nextInChain,
  restartEntryHash,
  retentionEntryHash,
} from "@ostiary/lib/domain/proof";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { entryIn, type StoredRow } from "./entries.ts";
import { storedColumns } from "./unsealed-sql.ts";

/** An entry of a chain as stored, with what it was made of: an event, which may be missing, or a declaration. */
export type ChainStep = Partial<StoredRow> & {
  position: number;
  /** The running hash, in hexadecimal. */
  chain: string;
  is_outcome: boolean | null;
  entry_occurred_at: string | null;
  kind: "retention" | "restart" | null;
  content: { month: string; declared_at: string; from: number } | null;
  salt: string | null;
};

/** Returns the entries of a chain after a position, in their order. */
export function selectSteps(tx: Orm, chain_id: number, after: number): Promise<ChainStep[]> {
  const at = sql`chain_id = ${String(chain_id)}::text::bigint and position > ${String(after)}::text::bigint`;
  return rows<ChainStep>(
    tx,
    sql`select entry.position, encode(entry.chain, 'hex') as chain, entry.is_outcome,
        entry.occurred_at as entry_occurred_at, entry.kind, entry.content, entry.salt, ${storedColumns}
      from (
        select position, chain, occurred_at, event_id, is_outcome, null::text as kind, null::json as content,
          null::text as salt from audit.entries where ${at}
        union all
        select position, chain, null, null, null, kind, content, encode(salt, 'hex')
        from audit.declarations where ${at}
      ) entry left join lateral (
        select * from audit.audit_events stored
        where stored.occurred_at = entry.occurred_at and stored.id = entry.event_id limit 1
      ) event on true
      order by entry.position`,
  );
}

/**
 * Follows a chain from `start` as long as its entries are what was sealed, and returns the end. `isDropped` says for
 * which entries without an event the stored hash counts.
 */
export function intactEnd(
  owner: string,
  start: { position: number; chain: Hash },
  steps: readonly ChainStep[],
  isDropped: (step: ChainStep) => boolean = () => false,
): { position: number; chain: Hash } {
  let { position, chain } = start;
  for (const step of steps) {
    const hash = hashOfStep(owner, step);
    const next = hash === null ? null : nextInChain(chain, hash);
    const isIntact = next === null ? isDropped(step) : hexOf(next) === step.chain;
    if (!isIntact || step.position !== position + 1) break;
    position = step.position;
    chain = next ?? hashFromHex(step.chain);
  }
  return { position, chain };
}

/** Returns the hash of an entry of an owner's chain, computed from what it was made of; null if that is missing. */
function hashOfStep(owner: string, step: ChainStep): Hash | null {
  const { kind, content, salt, is_outcome } = step;
  if (kind === "retention" && content !== null) return retentionEntryHash(owner, content, salt ?? "");
  if (kind === "restart" && content !== null) return restartEntryHash(owner, content, salt ?? "");
  if (!isStored(step) || is_outcome === null) return null;
  try {
    return entryIn(owner, step, is_outcome)?.hash ?? null;
  } catch {
    return null;
  }
}

function isStored(step: ChainStep): step is ChainStep & StoredRow {
  return typeof step.id === "string";
}
