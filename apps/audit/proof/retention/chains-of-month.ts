import {
  hashFromHex,
  hexOf,
  MONTH_MARGIN_MS,
  monthEnd,
  monthStart,
  nextInChain,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Partition } from "../../events/partitions-sql.ts";
import { rootOf } from "../heads/head-map.ts";
import { selectProvenHeads } from "../heads/proofs.ts";
import { entryIn, type NewEntry } from "../seal/entries.ts";
import {
  insertContents,
  type SealedHalf,
  selectDeclared,
  selectLeafBefore,
  selectUnsealedEvent,
  streamSealedHalves,
} from "./retention-sql.ts";

/** The error for a month with an event or a chain that is not what was sealed. The month is not dropped. */
export class MonthAltered extends Error {
  constructor(what: string) {
    super(`${what}. The month is not dropped until the rows are restored.`);
    this.name = "MonthAltered";
  }
}

interface ChainOfMonth {
  owner: string;
  entries: number;
  isDeclared: boolean;
}

const BATCH_ROWS = 500;

/**
 * Yields each chain with entries of a month. Checks that each event is the sealed one and belongs to the month. Keeps
 * the hashes of the contents of entries that were sealed so late that they could belong to a later month.
 *
 * @param asOf the snapshot whose events are sealed
 * @throws MonthAltered if an event differs from the sealed one, belongs to another month, or lacks an entry in one of
 * its logs
 */
export async function* chainsOfMonth(
  database: Database,
  { name, month }: Partition,
  asOf: string,
): AsyncGenerator<ChainOfMonth, void, void> {
  const unsealed = await selectUnsealedEvent(database, name, asOf);
  if (unsealed !== null) {
    throw new MonthAltered(
      `The event ${unsealed.id} of ${month} was never sealed in the log of ${unsealed.owner}`,
    );
  }
  const declared = await selectDeclared(database, month);
  const settled = await settledHeads(database, month);
  let last: (ChainOfMonth & { chain_id: number; settledTo: number }) | null = null;
  for await (const halves of streamSealedHalves(database, name, BATCH_ROWS)) {
    const late: { chain_id: number; position: number; content: string }[] = [];
    for (const half of halves) {
      const { chain_id, position } = half;
      const { owner, content } = checkedEntry(half, month);
      if (last === null || last.chain_id !== chain_id) {
        if (last !== null) yield last;
        const settledTo = await settled(owner);
        last = { chain_id, owner, entries: 0, isDeclared: false, settledTo };
      }
      last.entries += 1;
      last.isDeclared = (declared.get(chain_id) ?? 0) > position;
      if (position > last.settledTo) late.push({ chain_id, position, content: hexOf(content) });
    }
    await insertContents(database, late);
  }
  if (last !== null) yield last;
}

/** Returns a function for the last position of an owner that was sealed well before the end of the month. */
async function settledHeads(database: Database, month: string): Promise<(owner: string) => Promise<number>> {
  const leaf = await selectLeafBefore(database, new Date(monthEnd(month) - MONTH_MARGIN_MS).toISOString());
  return async (owner) => {
    const roots = leaf === null ? [] : [rootOf(leaf)];
    const [head] = await database.run("select_settled_head", (orm) => selectProvenHeads(orm, owner, roots));
    return head?.position ?? 0;
  };
}

/** Verifies that an intent or outcome is the sealed one and of the month, and returns its entry. */
function checkedEntry(half: SealedHalf, month: string): NewEntry {
  const { id, owner, position, is_outcome } = half;
  const entry = owner === null ? null : entryIn(owner, half, is_outcome);
  const occurredMs = Date.parse(half.occurred_at);
  const previous = position === 1 ? hexOf(ZERO_HASH) : half.previous;
  const isRight =
    entry !== null &&
    previous !== null &&
    hexOf(nextInChain(hashFromHex(previous), entry.hash)) === half.chain &&
    occurredMs >= monthStart(month) &&
    occurredMs < monthEnd(month);
  if (isRight) return entry;
  throw new MonthAltered(
    `The ${is_outcome ? "outcome" : "intent"} of event ${id} is not what was sealed at position ${position} of ${owner ?? `chain ${half.chain_id}`}, or does not belong to ${month}`,
  );
}
