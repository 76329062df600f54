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

/** Returns the heads in the order of their leaves: by owner, as bytes of UTF-8. */
export function inTreeOrder<H extends Pick<Head, "owner">>(heads: readonly H[]): H[] {
  return heads.toSorted((a, b) => Buffer.compare(Buffer.from(a.owner), Buffer.from(b.owner)));
}

/** Returns the tree over heads in tree order, as older versions sealed it. */
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

/** Returns the root of a map with these heads, at most one of each owner. */
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
