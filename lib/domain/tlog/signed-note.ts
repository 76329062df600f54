import { hashOf } from "../proof/chain.ts";

/** The signature types of C2SP signed-note that this project verifies; all are Ed25519. */
export const LOG_SIGNATURE = 1;
export const WITNESS_COSIGNATURE = 4;
const TYPES = [LOG_SIGNATURE, WITNESS_COSIGNATURE] as const;
type SignatureType = (typeof TYPES)[number];

const KEY_ID_BYTES = 4;
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
/** A valid key name: not empty, without spaces, plus signs and control characters. */
const NAME = /^[^\s+\p{Cc}]+$/u;
/** The control characters of ASCII below the space, except the line feed. */
const CONTROL = /[^\P{Cc}\n\u007f-\u009f]/u;
const SIGNATURE_LINE = /^\u2014 (\S+) (\S+)$/u;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The maximum length of a note, in UTF-16 units. */
const NOTE_LENGTH_MAX = 1_000_000;
/** The maximum number of signatures in a note. */
const SIGNATURES_MAX = 100;

const encoder = new TextEncoder();

/** One signature line of a note. */
interface NoteSignature {
  name: string;
  /** The key id, in hexadecimal: the first four bytes of the encoded signature. */
  keyId: string;
  signature: Uint8Array;
}

/** A text with signatures below it (C2SP signed-note). */
export interface Note {
  /** The signed text, with the line feed at its end. */
  text: string;
  signatures: readonly NoteSignature[];
}

/** A public key that verifies signatures of notes. */
export interface NoteKey {
  name: string;
  type: SignatureType;
  publicKey: Uint8Array;
}

/** A key that signs notes. */
export interface NoteSigner extends Omit<NoteKey, "type"> {
  privateKey: CryptoKey;
}

function isKeyName(name: string): boolean {
  return NAME.test(name) && name.isWellFormed();
}

/** Returns the id of a key in hexadecimal, as in the first bytes of a signature line. */
export function noteKeyId({ name, type, publicKey }: NoteKey): string {
  const hash = hashOf(encoder.encode(`${name}\n`), Uint8Array.of(type), publicKey);
  return hash.subarray(0, KEY_ID_BYTES).toHex();
}

/** Returns the text form of a key: name, id and public key, joined by plus signs. */
export function noteKeyText(key: NoteKey): string {
  const bytes = Uint8Array.of(key.type, ...key.publicKey);
  return `${key.name}+${noteKeyId(key)}+${bytes.toBase64()}`;
}

/** Parses the text form of a key. Returns null for any other text, and for an unsupported signature type. */
export function readNoteKey(text: string): NoteKey | null {
  const [, name = "", id = "", material = ""] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  const bytes = bytesOf(material);
  const type = TYPES.find((known) => known === bytes?.[0]);
  if (bytes?.length !== 1 + PUBLIC_KEY_BYTES || type === undefined || !isKeyName(name)) return null;
  const key = { name, type, publicKey: bytes.slice(1) };
  return noteKeyId(key) === id ? key : null;
}

/** Parses a note without verifying its signatures. Returns null for any other text. */
export function readNote(text: string): Note | null {
  if (text.length > NOTE_LENGTH_MAX || !text.isWellFormed() || CONTROL.test(text)) return null;
  const end = text.lastIndexOf("\n\n");
  if (end === -1 || !text.endsWith("\n")) return null;
  const lines = text.slice(end + 2, -1).split("\n");
  if (lines.length > SIGNATURES_MAX) return null;
  const signatures = lines.map(readSignature);
  return signatures.includes(null)
    ? null
    : { text: text.slice(0, end + 1), signatures: signatures.filter((signature) => signature !== null) };
}

function readSignature(line: string): NoteSignature | null {
  const [, name = "", base64 = ""] = SIGNATURE_LINE.exec(line) ?? [];
  const bytes = bytesOf(base64);
  if (bytes === null || bytes.length <= KEY_ID_BYTES || !isKeyName(name)) return null;
  return {
    name,
    keyId: bytes.subarray(0, KEY_ID_BYTES).toHex(),
    signature: bytes.slice(KEY_ID_BYTES),
  };
}

/** Decodes base64 in its canonical spelling (RFC 4648, section 4). Returns null for any other text. */
export function bytesOf(base64: string): Uint8Array | null {
  if (!BASE64.test(base64)) return null;
  const bytes = Uint8Array.fromBase64(base64);
  return bytes.toBase64() === base64 ? bytes : null;
}

export function noteText({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(signatureLine).join("")}`;
}

/** Returns one signature as the line of a note, with its line feed. */
export function signatureLine({ name, keyId, signature }: NoteSignature): string {
  const bytes = new Uint8Array(KEY_ID_BYTES + signature.length);
  bytes.set(Uint8Array.fromHex(keyId));
  bytes.set(signature, KEY_ID_BYTES);
  return `\u2014 ${name} ${bytes.toBase64()}\n`;
}

/** Signs the text of a note with the key of a log. The text must end in a line feed. */
export async function signNote(text: string, signer: NoteSigner): Promise<NoteSignature> {
  const keyId = noteKeyId({ ...signer, type: LOG_SIGNATURE });
  return { name: signer.name, keyId, signature: await ed25519(text, signer) };
}

function cosignedText(text: string, timeS: bigint): string {
  return `cosignature/v1\ntime ${timeS}\n${text}`;
}

async function ed25519(text: string, { privateKey }: NoteSigner): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, encoder.encode(text)));
}

/** A signature of a note by one of the given keys, with the result of its verification. */
interface KnownSignature {
  key: NoteKey;
  isRight: boolean;
  /** The time of a cosignature in seconds since 1970; null for a signature of the log. */
  timeS: number | null;
}

/**
 * Verifies the signatures of a note that name one of `keys`, in the order of the note. Ignores other
 * signatures. A caller should refuse a note if one of these signatures is wrong.
 */
export async function knownSignatures(note: Note, keys: readonly NoteKey[]): Promise<KnownSignature[]> {
  const ids = new Map(keys.map((key) => [`${key.name} ${noteKeyId(key)}`, key]));
  const found: KnownSignature[] = [];
  for (const { name, keyId, signature } of note.signatures) {
    const key = ids.get(`${name} ${keyId}`);
    if (key !== undefined) found.push(await verified(note.text, key, signature));
  }
  return found;
}

async function verified(text: string, key: NoteKey, signature: Uint8Array): Promise<KnownSignature> {
  if (key.type === LOG_SIGNATURE) {
    return { key, isRight: await isSigned(text, key, signature), timeS: null };
  }
  const isWhole = signature.length === TIME_BYTES + SIGNATURE_BYTES;
  const time = isWhole ? new DataView(signature.slice(0, TIME_BYTES).buffer).getBigUint64(0) : 0n;
  if (!isWhole || time > BigInt(Number.MAX_SAFE_INTEGER)) return { key, isRight: false, timeS: null };
  const isRight = await isSigned(cosignedText(text, time), key, signature.slice(TIME_BYTES));
  return { key, isRight, timeS: Number(time) };
}

async function isSigned(text: string, { publicKey }: NoteKey, signature: Uint8Array): Promise<boolean> {
  if (signature.length !== SIGNATURE_BYTES) return false;
  try {
    const raw = new Uint8Array(publicKey);
    const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", key, new Uint8Array(signature), encoder.encode(text));
  } catch (error) {
    // Some byte strings of the right length are not a point on the curve.
    if (error instanceof DOMException) return false;
    throw error;
  }
}
