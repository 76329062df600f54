import { hashFromHex } from "@ostiary/lib/domain/proof";
import { knownSignatures, noteKeyId, readNote, signatureLine } from "@ostiary/lib/domain/tlog";
import type { Receiver } from "../../receivers/receiver-call.ts";
import type { Cosignature, SignedRoot } from "./witness-sql.ts";
import type { Witness } from "./witnesses-file.ts";

/** The error for a witness that has cosigned something that contradicts this log. */
export class WitnessConflict extends Error {}

const CLOCKS_DIFFER_MS_MAX = 3_600_000;
const TEXT = "text/plain; charset=utf-8";
const SIZE_LINE = /^(?:0|[1-9][0-9]{0,15})\n$/;

interface AskDeps {
  receiver: Receiver;
  witness: Witness;
  nowMs: number;
  signal: AbortSignal;
}

/**
 * Asks a witness to cosign a root, and sends the proof that the tree grew from `oldSize`. Returns the cosignature, or
 * the size that the witness cosigned last if the proof must start there.
 *
 * @throws WitnessConflict if the witness says that the root does not continue what it cosigned
 * @throws Error for any other response
 */
export async function askWitness(
  { receiver, witness, nowMs, signal }: AskDeps,
  root: SignedRoot,
  { oldSize, path }: { oldSize: number; path: readonly string[] },
): Promise<Cosignature | number> {
  const proof = path.map((hash) => `${hashFromHex(hash).toBase64()}\n`).join("");
  const body = Buffer.from(`old ${oldSize}\n${proof}\n${root.note}`);
  const { result, text } = await receiver.ask(body, { "Content-Type": TEXT }, signal);
  if (result.outcome === "aborted") throw new Error("The call was aborted.");
  if (result.status === 409) {
    const size = text !== null && SIZE_LINE.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(size)) throw new Error("The witness responded with 409 without a size.");
    if (size !== oldSize) return size;
    throw new WitnessConflict(`the witness knows another root of size ${root.size}`);
  }
  if (result.status === 422)
    throw new WitnessConflict(`the witness does not accept the proof from size ${oldSize}`);
  if (result.outcome === "refused") throw new Error(result.error);
  if (text === null) throw new Error("The response is too long or is not UTF-8 text.");
  return cosignatureOf(text, witness, root, nowMs);
}

/** Finds the cosignature of the witness in a response. Ignores other signatures. */
async function cosignatureOf(
  text: string,
  { key, keyText }: Witness,
  root: SignedRoot,
  nowMs: number,
): Promise<Cosignature> {
  const note = readNote(root.note + text);
  if (note === null) throw new Error("The response does not consist of signature lines of a note.");
  const keyId = noteKeyId(key);
  for (const signature of note.signatures) {
    if (signature.name !== key.name || signature.keyId !== keyId) continue;
    const [found] = await knownSignatures({ text: note.text, signatures: [signature] }, [key]);
    if (found === undefined || !found.isRight || found.timeS === null) continue;
    const cosigned_at = new Date(found.timeS * 1_000);
    if (Math.abs(cosigned_at.getTime() - nowMs) > CLOCKS_DIFFER_MS_MAX)
      throw new Error("The time of the cosignature differs from this server's clock by more than an hour.");
    return { ...root, witness: keyText, line: signatureLine(signature), cosigned_at };
  }
  throw new Error("The response has no valid cosignature of this root by the key of the witness.");
}
