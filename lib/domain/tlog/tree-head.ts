import { type Hash, sha256 } from "../proof/chain.ts";
import { bytesOf, type Note, readNote } from "./signed-note.ts";

/** A name of a log: the first line of its signed roots. */
const LOG_ORIGIN = /^[!-*,-~]{1,255}$/;

export const LOG_ORIGIN_RULE = "must be 1 to 255 visible ASCII characters without a plus sign";

export function isLogOrigin(text: string): boolean {
  return LOG_ORIGIN.test(text);
}

/** The state of an append-only tree, which a log signs and witnesses cosign (C2SP tlog-checkpoint). */
export interface TreeHead {
  /** The name of the log. */
  origin: string;
  size: number;
  root: Hash;
  /** Additional signed lines of the log. Only those of {@link restartLine} mean something here. */
  extensions: readonly string[];
}

/** An earlier tree under another name, which an operator declared to be over. */
export interface EarlierTree {
  /** The time of the declaration. RFC 3339, UTC, milliseconds. */
  declared_at: string;
  /** The number of leaves in the last signed root of the earlier tree. */
  size: number;
  /** The name of the earlier tree. */
  origin: string;
}

const HASH_BYTES = 32;
const SIZE = /^(?:0|[1-9][0-9]{0,15})$/;

/** The root of a tree without leaves. */
export const EMPTY_ROOT: Hash = sha256("");

/** Returns a tree head in the text form that notes use. */
export function treeHeadText({ origin, size, root, extensions }: TreeHead): string {
  return [origin, size, root.toBase64(), ...extensions].map((line) => `${line}\n`).join("");
}

/** Parses the text form of a tree head. Returns null for any other text. */
export function readTreeHead(text: string): TreeHead | null {
  if (!text.endsWith("\n")) return null;
  const [origin = "", sizeText = "", rootText = "", ...extensions] = text.slice(0, -1).split("\n");
  const root = bytesOf(rootText);
  const size = Number(sizeText);
  const isRight = origin !== "" && SIZE.test(sizeText) && Number.isSafeInteger(size);
  if (!isRight || root?.length !== HASH_BYTES || extensions.includes("")) return null;
  return { origin, size, root, extensions };
}

/** A signed note over a tree head. */
export interface SignedRoot {
  note: Note;
  head: TreeHead;
}

/** Parses a signed root. Returns null for null and for any other text. */
export function readRoot(text: string | null): SignedRoot | null {
  const note = text === null ? null : readNote(text);
  const head = note === null ? null : readTreeHead(note.text);
  return note === null || head === null ? null : { note, head };
}

const RESTART = /^restart ([0-9T:.-]{23}Z) (0|[1-9][0-9]{0,15}) (\S+)$/;

/** Returns the extension line that every root of a restarted log has for each earlier tree, the oldest first. */
export function restartLine({ declared_at, size, origin }: EarlierTree): string {
  return `restart ${declared_at} ${size} ${origin}`;
}

/** Returns the earlier trees that a root names. */
export function treesBefore({ extensions }: TreeHead): EarlierTree[] {
  return extensions.flatMap((line) => {
    const [, declared_at = "", size = "", origin = ""] = RESTART.exec(line) ?? [];
    return origin === "" ? [] : [{ declared_at, size: Number(size), origin }];
  });
}
