import { type Hash, hashFromHex, hexOf, nextInChain, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { HeadMap } from "../heads/head-map.ts";
import type { ChainRow } from "./chain-sql.ts";
import type { HeadWrite } from "./pass-sql.ts";

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

/** New entries of chains, and the new heads of these chains. */
interface ChainPlan<Entry> {
  entries: Placed<Entry>[];
  heads: HeadWrite[];
}

/** Assigns each entry, in order, the next position in its owner's chain. Sets the new heads in the map. */
export function planChains<Entry extends Unplaced>(
  entries: readonly Entry[],
  chains: readonly ChainRow[],
  map: HeadMap,
): ChainPlan<Entry> {
  const ends = new Map(chains.map((row) => [row.owner, endOf(row)]));
  const moved = new Set<string>();
  const placed = entries.map((entry) => {
    const end = ends.get(entry.owner);
    if (end === undefined) throw new Error("The chain of an entry was not read.");
    moved.add(entry.owner);
    end.position += 1;
    end.chain = nextInChain(end.chain, entry.hash);
    return { entry, chain_id: end.id, position: end.position, chain: hexOf(end.chain) };
  });
  const heads = [...moved].flatMap((owner) => {
    const end = ends.get(owner);
    if (end === undefined) return [];
    map.set(owner, end);
    return [{ id: end.id, owner, position: end.position, chain: hexOf(end.chain) }];
  });
  return { entries: placed, heads };
}

function endOf({ id, position, chain }: ChainRow) {
  return { id, position, chain: chain === null ? ZERO_HASH : hashFromHex(chain) };
}
