import {
  type Hash,
  type Head,
  hashFromHex,
  headTree,
  hexOf,
  type Inclusion,
  inTreeOrder,
  nextInChain,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import type { NewEntry } from "./entries.ts";
import type { ChainRow, EntryWrite, HeadWrite } from "./queries.ts";

/** What a pass adds to chains, and the root over the heads that it moves. */
export interface ChainPlan {
  entries: EntryWrite[];
  heads: HeadWrite[];
  root: Hash;
}

/** Gives each entry the next place in its owner's chain, in their order. */
export function planChains(entries: readonly NewEntry[], chains: readonly ChainRow[]): ChainPlan {
  const ends = new Map(chains.map((row) => [row.owner, endOf(row)]));
  const writes = entries.map((entry) => {
    const end = ends.get(entry.owner);
    if (end === undefined) throw new Error("The chain of an entry was not read.");
    end.position += 1;
    end.chain = nextInChain(end.chain, entry.hash);
    const { occurred_at, event_id, is_outcome, own_salt } = entry;
    return {
      chain_id: end.id,
      position: end.position,
      occurred_at,
      event_id,
      is_outcome,
      chain: hexOf(end.chain),
      salt: own_salt,
    };
  });
  const moved = inTreeOrder([...ends.values()]);
  const { root, inclusions } = headTree(moved);
  return { entries: writes, heads: moved.map((end, index) => headWrite(end, inclusions[index])), root };
}

type End = Head & { id: number };

function endOf({ owner, id, position, chain }: ChainRow): End {
  return { owner, id, position, chain: chain === null ? ZERO_HASH : hashFromHex(chain) };
}

function headWrite({ id, owner, position, chain }: End, inclusion: Inclusion | undefined): HeadWrite {
  if (inclusion === undefined) throw new Error("A head is missing from its tree.");
  return { id, owner, position, chain: hexOf(chain), inclusion };
}
