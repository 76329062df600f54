import type { Hash } from "../proof/chain.ts";
import { rootOfLeaves, type TreeNode } from "./tree.ts";

/** The number of hashes in a full tile (C2SP tlog-tiles). Each hash covers a full tile of the level below. */
export const TILE_WIDTH = 256;
const LEVELS_OF_TILE = 8;
const HASH_BYTES = 32;
const DIGITS = 1_000;
/** The highest level that is accepted. The levels of real trees are far lower. */
const LEVEL_MAX = 63;

/** Consecutive hashes of a tree, or the entries of its leaves. */
export interface Tile {
  level: number | "entries";
  /** The index of the tile in its level, counted from 0. */
  index: number;
  /** The number of hashes or entries. The rightmost tile of a level can be partial. */
  width: number;
}

const PATH = /^((?:x[0-9]{3}\/)*)([0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/;

/** Returns the path of a tile below the URL of the log, such as `tile/0/x001/067.p/12`. */
export function tilePath({ level, index, width }: Tile): string {
  const groups = [threeDigits(index % DIGITS)];
  for (let rest = Math.floor(index / DIGITS); rest > 0; rest = Math.floor(rest / DIGITS)) {
    groups.unshift(`x${threeDigits(rest % DIGITS)}`);
  }
  return `tile/${level}/${groups.join("/")}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}

function threeDigits(value: number): string {
  return String(value).padStart(3, "0");
}

/** Parses a tile from its level and the rest of its path. Returns null for any other text. */
export function readTile(level: string, place: string): Tile | null {
  const [, above = "", last = "", width] = PATH.exec(place) ?? [];
  const index = Number((above + last).replaceAll(/[x/]/g, ""));
  if (last === "" || above.startsWith("x000/") || !Number.isSafeInteger(index)) return null;
  const tile = { level: levelOf(level), index, width: width === undefined ? TILE_WIDTH : Number(width) };
  if (tile.level === null || (width !== undefined && tile.width >= TILE_WIDTH)) return null;
  return { ...tile, level: tile.level };
}

function levelOf(text: string): Tile["level"] | null {
  if (text === "entries") return text;
  return /^(?:0|[1-9][0-9]?)$/.test(text) && Number(text) <= LEVEL_MAX ? Number(text) : null;
}

/**
 * Returns the tile that contains the hash of a subtree, or the hashes from which that hash is computed. The tree
 * has `size` leaves.
 */
export function tileOf(node: TreeNode, size: number): Tile {
  const { level, from } = placeOf(node);
  const index = Math.floor(from / TILE_WIDTH);
  const hashes = Math.floor(size / TILE_WIDTH ** level);
  return { level, index, width: Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH) };
}

/** Returns the hash of a subtree from the bytes of its tile, or null if the tile is too short. */
export function hashInTile(node: TreeNode, tile: Uint8Array): Hash | null {
  const { from, count } = placeOf(node);
  const first = from % TILE_WIDTH;
  if (tile.length < (first + count) * HASH_BYTES) return null;
  const hashes = Array.from({ length: count }, (_, offset) => {
    const at = (first + offset) * HASH_BYTES;
    return tile.slice(at, at + HASH_BYTES);
  });
  return rootOfLeaves(hashes);
}

/** Returns the tile level of a subtree, and the range of hashes at this level that the subtree covers. */
function placeOf({ level, index }: TreeNode): { level: number; from: number; count: number } {
  const above = level % LEVELS_OF_TILE;
  const count = 2 ** above;
  return { level: (level - above) / LEVELS_OF_TILE, from: index * count, count };
}
