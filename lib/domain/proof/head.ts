import { canonicalJson } from "./canonical-json.ts";
import { type Hash, hexOf } from "./chain.ts";
import { leafHash } from "./merkle.ts";

/** The end of an owner's chain. */
export interface Head {
  /** `organization:` or `user:`, followed by the id. */
  owner: string;
  /** The position of the last entry, counted from 1. */
  position: number;
  chain: Hash;
}

/** Returns the owner of a chain in the form that heads use. */
export function ownerOf(kind: "organization" | "user", id: string): string {
  return `${kind}:${id}`;
}

const encoder = new TextEncoder();

/** Returns the leaf of a head in the tree of its checkpoint. */
export function headLeaf({ owner, position, chain }: Head): Hash {
  return leafHash(encoder.encode(canonicalJson({ owner, position, chain: hexOf(chain) })));
}
