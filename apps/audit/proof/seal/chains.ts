import { type Hash, hashFromHex, hexOf, nextInChain, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { HeadMap } from "../heads/head-map.ts";
import type { ChainEnd, ChainRow } from "./chain-sql.ts";

/** The error for a tree, map of heads or signed root that is not what was sealed. The sealer then seals nothing in any log. */
export class TreeAltered extends Error {
  constructor(what: string) {
    super(
      `${what}. Nothing more is sealed until the rows are restored, or ostiary audit restart declares the change.`,
    );
    this.name = "TreeAltered";
  }
}

/** The chain of one owner whose rows are not what was sealed. The sealer leaves it out and seals the others. */
export interface AlteredChain {
  owner: string;
  /** The difference, as a part of the sentence of an error message. */
  reason: string;
}

/** Returns the chains whose rows differ from their heads in the map, which the last signed root holds. */
export function alteredOf(chains: readonly ChainRow[], map: HeadMap): AlteredChain[] {
  return chains.flatMap((row) => {
    const reason = differenceOf(row, map);
    return reason === null ? [] : [{ owner: row.owner, reason }];
  });
}

function differenceOf(row: ChainRow, map: HeadMap): string | null {
  if (row.goes_on) return "the chain has entries after its end";
  const head = map.headOf(row.owner);
  if (head === "lost") return "the path to the chain in the map of heads is gone";
  if (head === null) return row.chain === null ? null : "the map of heads does not have the chain";
  if (row.position !== head.position) {
    return `the chain ends at position ${row.position}, and position ${head.position} was sealed`;
  }
  return row.chain === hexOf(head.chain)
    ? null
    : `the hash at position ${head.position} differs from the sealed one`;
}

/** An entry that has no position yet: its hash, and the columns that its table has beside its position. */
interface UnsealedEntry<Row> {
  owner: string;
  hash: Hash;
  row: Row;
}

/** The row of an entry at its position in a chain. `chain` is the running hash in hexadecimal. */
export type SealedEntry<Row> = Row & { chain_id: number; position: number; chain: string };

/**
 * Assigns each entry, in order, the next position in its owner's chain. Sets the new heads in the map, and returns the
 * rows to write.
 */
export function planChains<Row>(
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
