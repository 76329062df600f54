import {
  knownSignatures,
  type Note,
  type NoteKey,
  noteKeyText,
  readNote,
  readNoteKey,
  readTreeHead,
  WITNESS_COSIGNATURE,
} from "../domain/tlog/index.ts";

/** A witness, and the time of the witness's cosignature. */
export interface WitnessCosignature {
  /** The name in the witness's key. */
  name: string;
  /** The time of the newest valid cosignature, or null if there is none. */
  cosigned_at: string | null;
}

/** The result of checking who cosigned a signed root. */
export interface CosignedRoot {
  /** The name of the log. */
  origin: string;
  /** The number of checkpoints in the tree. */
  size: number;
  /** The root of the tree in base64. */
  root: string;
  quorum: number;
  /** Every witness whose key was given, in the order of the keys. */
  witnesses: readonly WitnessCosignature[];
  /** Whether a quorum cosigned the root. */
  is_witnessed: boolean;
}

/** The error for invalid keys of witnesses. `line` is counted from 1; 0 stands for the whole text. */
export class NotWitnessKeys extends Error {
  readonly line: number;

  constructor(line: number, why: string) {
    super(why);
    this.name = "NotWitnessKeys";
    this.line = line;
  }
}

/** The maximum time by which the clock of a witness may be ahead of the verifier's clock. */
const AHEAD_MS_MAX = 3_600_000;
const KEYS_MAX = 100;

/**
 * Parses verifier keys of witnesses, one on each line. Ignores empty lines and lines that begin with `#`.
 *
 * @throws NotWitnessKeys
 */
export function readWitnessKeys(text: string): readonly NoteKey[] {
  const keys: NoteKey[] = [];
  const seen = new Set<string>();
  for (const [index, line] of text.split("\n").entries()) {
    const entry = line.trim();
    if (entry === "" || entry.startsWith("#")) continue;
    const key = readNoteKey(entry);
    if (key?.type !== WITNESS_COSIGNATURE) throw new NotWitnessKeys(index + 1, "is not a key of a witness");
    // The signed text of a cosignature does not contain the witness's name, so one key under two names would
    // count twice.
    const material = key.publicKey.toHex();
    if (seen.has(material)) throw new NotWitnessKeys(index + 1, "has the key of an earlier line");
    seen.add(material);
    keys.push(key);
  }
  if (keys.length === 0) throw new NotWitnessKeys(0, "has no key of a witness");
  if (keys.length > KEYS_MAX) throw new NotWitnessKeys(0, `has more than ${KEYS_MAX} keys`);
  return keys;
}

/**
 * Returns which witnesses cosigned a signed root (AU-175). Ignores signatures of other keys, and cosignatures
 * with a time more than an hour after `nowMs`. Returns null for a text that is not a signed root.
 */
export async function checkCosignedRoot(
  text: string,
  keys: readonly NoteKey[],
  { quorum, nowMs }: { quorum: number; nowMs: number },
): Promise<CosignedRoot | null> {
  const note = readNote(text);
  const head = note === null ? null : readTreeHead(note.text);
  if (note === null || head === null) return null;
  const { cosignatures: witnesses } = await witnessCosignatures(note, keys, nowMs);
  const is_witnessed = cosignedCount(witnesses) >= quorum;
  const { origin, size, root } = head;
  return { origin, size, root: root.toBase64(), quorum, witnesses, is_witnessed };
}

/** The witnesses of a note, in the order of the given keys. */
interface WitnessMarks {
  cosignatures: readonly WitnessCosignature[];
  /** The names of witnesses for which the note has an invalid signature. */
  wrong: readonly string[];
}

/**
 * Returns when each witness last cosigned a note, and whose signatures are invalid. Ignores times more than
 * an hour after `nowMs`.
 */
export async function witnessCosignatures(
  note: Note,
  keys: readonly NoteKey[],
  nowMs: number,
): Promise<WitnessMarks> {
  const times = new Map<string, string>();
  const wrong: string[] = [];
  for (const { key, isRight, timeS } of await knownSignatures(note, keys)) {
    if (!isRight) wrong.push(key.name);
    if (!isRight || timeS === null || timeS * 1_000 > nowMs + AHEAD_MS_MAX) continue;
    const time = new Date(timeS * 1_000).toISOString();
    const known = times.get(noteKeyText(key));
    if (known === undefined || known < time) times.set(noteKeyText(key), time);
  }
  const cosignatures = keys.map((key) => ({
    name: key.name,
    cosigned_at: times.get(noteKeyText(key)) ?? null,
  }));
  return { cosignatures, wrong };
}

/** Returns how many witnesses cosigned. */
export function cosignedCount(cosignatures: readonly WitnessCosignature[]): number {
  return cosignatures.filter(({ cosigned_at }) => cosigned_at !== null).length;
}
