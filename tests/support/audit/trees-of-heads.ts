import {
  type Hash,
  type Head,
  hashFromHex,
  headLeaf,
  hexOf,
  type Inclusion,
  joinedSubtree,
  mapLeaf,
  mapSteps,
  mapValue,
  type Subtree,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import { inclusionRanges, rootOfLeaves } from "@ostiary/lib/domain/tlog";

/** Returns heads in the order of the tree's leaves: by the UTF-8 bytes of the owner. */
export function inTreeOrder<H extends Pick<Head, "owner">>(heads: readonly H[]): H[] {
  return heads.toSorted((a, b) => Buffer.compare(Buffer.from(a.owner), Buffer.from(b.owner)));
}

/**
 * Returns the root hash and the inclusion proofs of the tree over these heads, which older versions sealed.
 */
export function headTree(heads: readonly Head[]): { root: Hash; inclusions: Inclusion[] } {
  const leaves = heads.map(headLeaf);
  const size = leaves.length;
  const inclusions = leaves.map((_, index) => ({
    index,
    size,
    path: inclusionRanges(index, size).map(({ from, to }) => hexOf(rootOfLeaves(leaves.slice(from, to)))),
  }));
  return { root: rootOfLeaves(leaves), inclusions };
}

/** Returns the root hash of the map with these heads. Each owner has at most one head. */
export function mapRoot(heads: readonly Head[]): Hash {
  const leaves = heads.map((head) => {
    const steps = mapSteps(head.owner);
    return {
      bits: BigInt(`0x1${steps}`).toString(2).slice(1),
      hash: mapLeaf(hashFromHex(steps), mapValue(head)),
    };
  });
  const subtree = (among: typeof leaves, level: number): Subtree | null => {
    const [first, second] = among;
    if (first === undefined) return null;
    if (second === undefined) return { hash: first.hash, isLeaf: true };
    const half = (bit: string) =>
      subtree(
        among.filter(({ bits }) => bits[level] === bit),
        level + 1,
      );
    return joinedSubtree(half("0"), half("1"));
  };
  return subtree(leaves, 0)?.hash ?? ZERO_HASH;
}
