import { canonicalJson } from "./canonical-json.ts";
import { type Hash, hexOf } from "./chain.ts";
import { type Inclusion, leafHash, merkleTree } from "./merkle.ts";

/** The end of an owner's chain. */
export interface Head {
  /** `organization:` or `user:`, and the id. */
  owner: string;
  /** Position of the last entry; the first entry has 1. */
  position: number;
  chain: Hash;
}

/** Returns the owner of a chain, as heads name it. */
export function ownerOf(kind: "organization" | "user", id: string): string {
  return `${kind}:${id}`;
}

const encoder = new TextEncoder();

/** Returns the leaf of a head in the tree of its checkpoint. */
export function headLeaf({ owner, position, chain }: Head): Hash {
  return leafHash(encoder.encode(canonicalJson({ owner, position, chain: hexOf(chain) })));
}

/** Returns the heads in the order of their leaves: by owner, as bytes of UTF-8. */
export function inTreeOrder<H extends Pick<Head, "owner">>(heads: readonly H[]): H[] {
  return heads.toSorted((a, b) => Buffer.compare(Buffer.from(a.owner), Buffer.from(b.owner)));
}

/** Returns the tree over heads that are in tree order. */
export function headTree(heads: readonly Head[]): { root: Hash; inclusions: Inclusion[] } {
  return merkleTree(heads.map(headLeaf));
}
