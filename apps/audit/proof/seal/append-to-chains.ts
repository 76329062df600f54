import {
  type Hash,
  type HexHash,
  hashFromHex,
  hexOf,
  nextInChain,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import type { HeadMap } from "../heads/head-map.ts";
import type { ChainEnd, ChainRow } from "./chain-sql.ts";

/** An entry that has no position yet: its hash, and the columns that its table has beside its position. */
interface UnsealedEntry<Row> {
  owner: string;
  hash: Hash;
  row: Row;
}

/** The row of an entry at its position in a chain. */
export type SealedEntry<Row> = Row & { chain_id: number; position: number; chain: HexHash };

/**
 * Gives each entry, in order, the next position in its owner's chain. Sets the new heads in the map, and returns the
 * rows to write.
 */
export function appendToChains<Row>(
  entries: readonly UnsealedEntry<Row>[],
  chains: readonly ChainRow[],
  map: HeadMap,
): { entries: SealedEntry<Row>[]; heads: ChainEnd[] } {
  const ends = new Map(
    chains.map(({ owner, id, position, chain }) => [
      owner,
      { owner, id, start: position, position, chain: chain === null ? ZERO_HASH : hashFromHex(chain) },
    ]),
  );
  const written = entries.map(({ owner, hash, row }) => {
    const end = ends.get(owner);
    if (end === undefined) throw new Error("The chain of an entry was not read.");
    end.position += 1;
    end.chain = nextInChain(end.chain, hash);
    return { ...row, chain_id: end.id, position: end.position, chain: hexOf(end.chain) };
  });
  const heads = [...ends.values()].filter(({ start, position }) => position > start);
  for (const head of heads) map.set(head.owner, head);
  return {
    entries: written,
    heads: heads.map(({ id, owner, position, chain }) => ({ id, owner, position, chain: hexOf(chain) })),
  };
}
