import { describe, expect, test } from "bun:test";
import type { Hash } from "@ostiary/lib/domain/proof";
import {
  EMPTY_ROOT,
  foldedHash,
  hashInTile,
  leafHash,
  nodesOf,
  readTile,
  rootOfLeaves,
  TILE_WIDTH,
  type Tile,
  tileOf,
  tilePath,
} from "@ostiary/lib/domain/tlog";

// AU-151
describe("the path of a tile", () => {
  test.each<[Tile, string]>([
    [{ level: 0, index: 0, width: 256 }, "tile/0/000"],
    [{ level: 1, index: 67, width: 12 }, "tile/1/067.p/12"],
    [{ level: 0, index: 1_000, width: 1 }, "tile/0/x001/000.p/1"],
    [{ level: 0, index: 1_234_067, width: 256 }, "tile/0/x001/x234/067"],
    [{ level: 63, index: 999_999_999, width: 255 }, "tile/63/x999/x999/999.p/255"],
    [{ level: "entries", index: 3, width: 256 }, "tile/entries/003"],
  ])("is parsed as it is written: %j is %s", (tile, path) => {
    expect(tilePath(tile)).toBe(path);
    const [, level = "", ...place] = path.split("/");
    expect(readTile(level, place.join("/"))).toEqual(tile);
  });

  test.each([
    ["0", ""],
    ["0", "0"],
    ["0", "0000"],
    ["0", "x000/067"],
    ["0", "001/067"],
    ["0", "x001"],
    ["0", "x001/x067"],
    ["0", "X001/067"],
    ["0", "067.p/0"],
    ["0", "067.p/01"],
    ["0", "067.p/256"],
    ["0", "067.p/999"],
    ["0", "067.p/-1"],
    ["0", "067.p/"],
    ["0", "067.p"],
    ["0", "067/1"],
    ["0", "067 "],
    ["0", "\u0660\u0661\u0662"],
    ["00", "067"],
    ["-1", "067"],
    ["64", "067"],
    ["1e1", "067"],
    ["entrie", "067"],
    ["data", "067"],
    ["0", `${"x999/".repeat(6)}999`],
  ])("is refused: level %p, %p", (level, place) => {
    expect(readTile(level, place)).toBeNull();
  });
});

/** Returns the tiles of a tree of `size` leaves, by their paths. */
function tilesOfTree(size: number): Map<string, Uint8Array> {
  const tiles = new Map<string, Uint8Array>();
  let hashes: Hash[] = Array.from({ length: size }, (_, index) =>
    leafHash(Uint8Array.of(index >> 8, index & 255)),
  );
  for (let level = 0; hashes.length > 0; level++) {
    const above: Hash[] = [];
    for (let index = 0; index * TILE_WIDTH < hashes.length; index++) {
      const part = hashes.slice(index * TILE_WIDTH, (index + 1) * TILE_WIDTH);
      tiles.set(tilePath({ level, index, width: part.length }), new Uint8Array(Buffer.concat(part)));
      if (part.length === TILE_WIDTH) above.push(rootOfLeaves(part));
    }
    hashes = above;
  }
  return tiles;
}

// AU-151
test.each([1, 2, 255, 256, 257, 511, 700, 66_000])(
  "the root of %p leaves can be computed from their tiles alone",
  (size) => {
    const tiles = tilesOfTree(size);
    const leaves = Array.from({ length: size }, (_, index) =>
      leafHash(Uint8Array.of(index >> 8, index & 255)),
    );
    const hashes = nodesOf({ from: 0, to: size }).map((node) => {
      const tile = tiles.get(tilePath(tileOf(node, size)));
      return (tile && hashInTile(node, tile)) ?? EMPTY_ROOT;
    });
    expect(foldedHash(hashes)).toEqual(rootOfLeaves(leaves));
  },
);

// AU-151
test("a partial tile has no hash for nodes that it does not contain", () => {
  const tile = new Uint8Array(3 * 32);
  expect(hashInTile({ level: 0, index: 2 }, tile)).not.toBeNull();
  expect(hashInTile({ level: 0, index: 3 }, tile)).toBeNull();
  expect(hashInTile({ level: 2, index: 0 }, tile)).toBeNull();
  expect(hashInTile({ level: 0, index: 2 }, tile.slice(1))).toBeNull();
});
