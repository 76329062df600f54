import {
  knownSignatures,
  LOG_SIGNATURE,
  type NoteKey,
  noteKeyText,
  readNoteKey,
  WITNESS_COSIGNATURE,
} from "../domain/tlog/index.ts";
import type { Findings } from "./findings.ts";
import type { RootsFound } from "./roots-check.ts";

/** The witnesses that a reader trusts, and how many of them must have cosigned a log. */
export interface WitnessRule {
  keys: readonly NoteKey[];
  quorum: number;
  nowMs: number;
}

/** A witness, and the time of its cosignature of the export's tree, or null. */
export interface WitnessFound {
  name: string;
  cosigned_at: string | null;
}

/** The error for invalid verifier keys. `line` is counted from 1; 0 stands for the whole text. */
export class NotKeys extends Error {
  readonly line: number;

  constructor(line: number, why: string) {
    super(why);
    this.name = "NotKeys";
    this.line = line;
  }
}

const KEYS_MAX = 100;

/** Returns the verifier key of a log from its text, or null for any other text. */
export function readLogKey(text: string): NoteKey | null {
  const key = readNoteKey(text.trim());
  return key?.type === LOG_SIGNATURE ? key : null;
}

/**
 * Parses verifier keys of witnesses, one on each line. Ignores empty lines and lines that begin with `#`.
 *
 * @throws NotKeys
 */
export function readWitnessKeys(text: string): readonly NoteKey[] {
  const keys: NoteKey[] = [];
  const seen = new Set<string>();
  for (const [index, line] of text.split("\n").entries()) {
    const entry = line.trim();
    if (entry === "" || entry.startsWith("#")) continue;
    const key = readNoteKey(entry);
    if (key?.type !== WITNESS_COSIGNATURE) throw new NotKeys(index + 1, "is not a key of a witness");
    // The signed text of a cosignature does not contain the witness's name, so one key under two names would
    // count twice.
    const material = key.publicKey.toHex();
    if (seen.has(material)) throw new NotKeys(index + 1, "has the key of an earlier line");
    seen.add(material);
    keys.push(key);
  }
  if (keys.length === 0) throw new NotKeys(0, "has no key of a witness");
  if (keys.length > KEYS_MAX) throw new NotKeys(0, `has more than ${KEYS_MAX} keys`);
  return keys;
}

/** The maximum time by which the clock of a witness may be ahead of the verifier's clock. */
const AHEAD_MS_MAX = 3_600_000;

/** Checks which witnesses cosigned a tree that has the newest leaf of the export (AU-197). */
export async function checkWitnesses(
  { keys, quorum, nowMs }: WitnessRule,
  { root, cosigned }: RootsFound,
  findings: Findings,
): Promise<WitnessFound[]> {
  const times = new Map<string, string>();
  for (const { key, isRight, timeS } of cosigned === null ? [] : await knownSignatures(cosigned.note, keys)) {
    if (!isRight) findings.add("cosignature_wrong", { root: key.name });
    if (!isRight || timeS === null || timeS * 1_000 > nowMs + AHEAD_MS_MAX) continue;
    const time = new Date(timeS * 1_000).toISOString();
    const known = times.get(noteKeyText(key)) ?? "";
    if (known < time) times.set(noteKeyText(key), time);
  }
  const size = root?.head.size ?? 0;
  const found = cosigned?.head.size ?? 0;
  const place = { root: "cosigned.note" };
  if (times.size < quorum) findings.add("not_cosigned", place, `${quorum} of ${keys.length}`, times.size);
  else if (found < size) findings.add("not_cosigned", place, `size ${size}`, `size ${found}`);
  return keys.map((key) => ({ name: key.name, cosigned_at: times.get(noteKeyText(key)) ?? null }));
}
