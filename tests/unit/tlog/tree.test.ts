import { describe, expect, test } from "bun:test";
import { type Hash, hashOf, hexOf, sha256 } from "@ostiary/lib/domain/proof";
import {
  consistencyRanges,
  EMPTY_ROOT,
  foldedHash,
  hashesOfNextLeaf,
  inclusionRanges,
  isConsistent,
  isIncluded,
  type LeafRange,
  leafHash,
  nextFrontier,
  nodesOf,
  rootOfLeaves,
} from "@ostiary/lib/domain/tlog";

const SIZE_MAX = 70;

/** The leaves in the test data of Certificate Transparency, with the root of the tree after each leaf. */
const PUBLISHED = [
  ["", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"],
  ["00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
  ["10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"],
  ["2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"],
  ["3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"],
  ["40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"],
  ["5051525354555657", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"],
  ["606162636465666768696a6b6c6d6e6f", "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"],
] as const;

/** Returns the root as RFC 6962 defines it, from the leaves alone. */
function definedRoot(leaves: readonly Hash[]): Hash {
  const [first] = leaves;
  if (first === undefined) return sha256("");
  if (leaves.length === 1) return first;
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return hashOf(Uint8Array.of(1), definedRoot(leaves.slice(0, half)), definedRoot(leaves.slice(half)));
}

const leaves = Array.from({ length: SIZE_MAX }, (_, index) => leafHash(Uint8Array.of(index)));
const roots = Array.from({ length: SIZE_MAX + 1 }, (_, size) => definedRoot(leaves.slice(0, size)));

function rootAt(size: number): Hash {
  return roots[size] ?? EMPTY_ROOT;
}

function pathOf(ranges: readonly LeafRange[]): Hash[] {
  return ranges.map(({ from, to }) => definedRoot(leaves.slice(from, to)));
}

function flipped(hash: Hash): Hash {
  return hash.map((byte, index) => (index === 0 ? byte ^ 1 : byte));
}

// AU-150
describe("an append-only tree", () => {
  test("has the published roots", () => {
    let frontier: Hash[] = [];
    for (const [size, [leaf, root]] of PUBLISHED.entries()) {
      frontier = nextFrontier(frontier, hashesOfNextLeaf(size, leafHash(Uint8Array.fromHex(leaf)), frontier));
      expect(hexOf(foldedHash(frontier))).toBe(root);
    }
    expect(hexOf(EMPTY_ROOT)).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });

  test("grows leaf by leaf into the defined root, and each leaf adds the subtrees that it completes", () => {
    let frontier: Hash[] = [];
    for (const [size, leaf] of leaves.entries()) {
      const added = hashesOfNextLeaf(size, leaf, frontier);
      for (const [level, hash] of added.entries()) {
        expect(hash).toEqual(definedRoot(leaves.slice(size + 1 - 2 ** level, size + 1)));
      }
      frontier = nextFrontier(frontier, added);
      expect(foldedHash(frontier)).toEqual(rootAt(size + 1));
      expect(rootOfLeaves(leaves.slice(0, size + 1))).toEqual(rootAt(size + 1));
      expect(nodesOf({ from: 0, to: size + 1 })).toHaveLength(frontier.length);
    }
    expect(() => hashesOfNextLeaf(3, leafHash(Uint8Array.of(3)), [])).toThrow(RangeError);
  });

  test("proves each leaf at each size, and no other leaf", () => {
    for (let size = 1; size <= SIZE_MAX; size++) {
      for (let index = 0; index < size; index++) {
        const path = pathOf(inclusionRanges(index, size));
        const leaf = leaves[index] ?? EMPTY_ROOT;
        const tree = { size, root: rootAt(size) };
        expect(isIncluded(leaf, index, tree, path)).toBe(true);
        expect(isIncluded(flipped(leaf), index, tree, path)).toBe(false);
        if (size < SIZE_MAX)
          expect(isIncluded(leaf, index, { size, root: rootAt(size + 1) }, path)).toBe(false);
      }
    }
  });

  test("is consistent with each earlier size of itself", () => {
    for (let size = 0; size <= SIZE_MAX; size++) {
      for (let earlier = 0; earlier <= size; earlier++) {
        const path = pathOf(consistencyRanges(earlier, size));
        const trees = [
          { size: earlier, root: rootAt(earlier) },
          { size, root: rootAt(size) },
        ] as const;
        expect(isConsistent(...trees, path)).toBe(true);
        expect(path.length).toBeLessThanOrEqual(8);
      }
    }
  });

  test("is never consistent after a change of a size, a root or a hash of the path", () => {
    for (let size = 1; size <= SIZE_MAX; size++) {
      for (let earlier = 1; earlier < size; earlier++) {
        const path = pathOf(consistencyRanges(earlier, size));
        const [before, after] = [
          { size: earlier, root: rootAt(earlier) },
          { size, root: rootAt(size) },
        ];
        const wrong = [
          isConsistent({ ...before, root: flipped(before.root) }, after, path),
          isConsistent(before, { ...after, root: flipped(after.root) }, path),
          isConsistent(after, before, path),
          isConsistent(before, { ...before, root: after.root }, []),
          isConsistent(before, after, [...path, before.root]),
          isConsistent(before, after, path.slice(1)),
          isConsistent({ size: 0, root: before.root }, after, []),
          isConsistent({ size: 0, root: EMPTY_ROOT }, after, path),
          ...path.map((_, at) =>
            isConsistent(
              before,
              after,
              path.map((hash, index) => (index === at ? flipped(hash) : hash)),
            ),
          ),
        ];
        expect(wrong.includes(true)).toBe(false);
      }
    }
  });

  test.each([
    [-1, 5],
    [1.5, 5],
    [1, Number.NaN],
    [1, 2 ** 53],
    [6, 5],
  ])("does not accept invalid sizes: %p of %p", (earlier, size) => {
    expect(isConsistent({ size: earlier, root: EMPTY_ROOT }, { size, root: EMPTY_ROOT }, [])).toBe(false);
  });

  test("splits ranges of more than 2 ** 32 leaves exactly", () => {
    const size = 2 ** 40 + 2 ** 33 + 1;
    expect(nodesOf({ from: 0, to: size })).toEqual([
      { level: 40, index: 0 },
      { level: 33, index: 2 ** 7 },
      { level: 0, index: 2 ** 40 + 2 ** 33 },
    ]);
    expect(inclusionRanges(2 ** 35 + 5, size)).toHaveLength(41);
    expect(consistencyRanges(2 ** 35 + 5, size).length).toBeLessThanOrEqual(42);
  });
});
