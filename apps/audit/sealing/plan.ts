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
import type { ChainRow, HeadWrite } from "./queries.ts";

/** An entry that has no position yet. */
export interface Unplaced {
  owner: string;
  hash: Hash;
}

/** An entry at its position in a chain. */
export interface Placed<Entry> {
  entry: Entry;
  chain_id: number;
  position: number;
  /** The running hash, in hexadecimal. */
  chain: string;
}

/** Additions to chains, and the root over the heads that move. */
export interface ChainPlan<Entry> {
  entries: Placed<Entry>[];
  heads: HeadWrite[];
  root: Hash;
}

/** Assigns each entry the next position in its owner's chain, in their order. */
export function planChains<Entry extends Unplaced>(
  entries: readonly Entry[],
  chains: readonly ChainRow[],
): ChainPlan<Entry> {
  const ends = new Map(chains.map((row) => [row.owner, endOf(row)]));
  const placed = entries.map((entry) => {
    const end = ends.get(entry.owner);
    if (end === undefined) throw new Error("The chain of an entry was not read.");
    end.position += 1;
    end.chain = nextInChain(end.chain, entry.hash);
    return { entry, chain_id: end.id, position: end.position, chain: hexOf(end.chain) };
  });
  const moved = inTreeOrder([...ends.values()]);
  const { root, inclusions } = headTree(moved);
  return { entries: placed, heads: moved.map((end, index) => headWrite(end, inclusions[index])), root };
}

type End = Head & { id: number };

function endOf({ owner, id, position, chain }: ChainRow): End {
  return { owner, id, position, chain: chain === null ? ZERO_HASH : hashFromHex(chain) };
}

function headWrite({ id, owner, position, chain }: End, inclusion: Inclusion | undefined): HeadWrite {
  if (inclusion === undefined) throw new Error("A head is missing from its tree.");
  return { id, owner, position, chain: hexOf(chain), inclusion };
}
