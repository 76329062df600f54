import {
  type ChainRange,
  hashFromHex,
  hexOf,
  monthEnd,
  monthStart,
  nextInChain,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Partition } from "../partitions/partition.ts";
import { entriesOf } from "../sealing/entries.ts";
import { LogAltered } from "../sealing/sealed-state.ts";
import { type SealedHalf, selectDeclared, streamSealedHalves } from "./sql.ts";

/** The undeclared positions of a month in one chain. */
export interface Undeclared {
  owner: string;
  ranges: ChainRange[];
}

const BATCH_ROWS = 500;

/**
 * Yields the undeclared positions of each chain. Checks that each event is the sealed one and belongs to the month.
 *
 * @throws LogAltered if an event differs from the sealed one or belongs to another month
 */
export async function* undeclaredPlaces(
  database: Database,
  month: Partition,
): AsyncGenerator<Undeclared, void, void> {
  const declared = new Map<number, ChainRange[]>();
  for (const { chain_id, ranges } of await selectDeclared(database, month.month)) {
    declared.set(chain_id, [...(declared.get(chain_id) ?? []), ...ranges]);
  }
  let chain: (Undeclared & { chain_id: number }) | null = null;
  for await (const halves of streamSealedHalves(database, month.name, BATCH_ROWS)) {
    for (const half of halves) {
      const { chain_id, position } = half;
      const owner = checkedOwner(half, month.month);
      if (declared.get(chain_id)?.some(({ from, to }) => from <= position && position <= to)) continue;
      if (chain !== null && chain.chain_id !== chain_id) yield chain;
      if (chain === null || chain.chain_id !== chain_id) chain = { chain_id, owner, ranges: [] };
      extend(chain.ranges, position, half.chain);
    }
  }
  if (chain !== null) yield chain;
}

function extend(ranges: ChainRange[], position: number, chain: string): void {
  const last = ranges.at(-1);
  if (last?.to === position - 1) {
    last.to = position;
    last.chain = chain;
  } else ranges.push({ from: position, to: position, chain });
}

/** Verifies that an intent or outcome matches its sealed hash, and returns the owner of its chain. */
function checkedOwner(half: SealedHalf, month: string): string {
  const { id, owner, position, is_outcome, own_salt } = half;
  const occurredMs = Date.parse(half.occurred_at);
  const entry = entriesOf({ row: half, is_outcome }, () => own_salt ?? "").find(
    (each) => each.owner === owner && each.is_outcome === is_outcome,
  );
  const previous = position === 1 ? hexOf(ZERO_HASH) : half.previous;
  const isRight =
    owner !== null &&
    entry !== undefined &&
    previous !== null &&
    hexOf(nextInChain(hashFromHex(previous), entry.hash)) === half.chain &&
    occurredMs >= monthStart(month) &&
    occurredMs < monthEnd(month);
  if (isRight) return owner;
  throw new LogAltered(
    `The ${is_outcome ? "outcome" : "intent"} of event ${id} is not what was sealed at position ${position} of ${owner ?? `chain ${half.chain_id}`}, or does not belong to ${month}`,
  );
}
