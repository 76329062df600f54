import { hashFromHex } from "@ostiary/lib/domain/proof";
import { knownSignatures, noteKeyId, readNote, signatureLine } from "@ostiary/lib/domain/tlog";
import type { Answer, Receiver } from "../../streams/receiver-call.ts";
import type { Cosignature } from "./sql.ts";
import type { Witness } from "./witnesses-file.ts";

/** A signed root of the tree, for witnesses to cosign. */
export interface SignedRoot {
  size: number;
  note: string;
}

/** The result of asking a witness to cosign. */
export type Exchange =
  | { outcome: "cosigned"; cosignature: Cosignature }
  /** The witness has cosigned a tree of this size, so the proof must start from this size. */
  | { outcome: "other_size"; size: number }
  /** The witness reports that this root does not extend the tree that the witness cosigned last. */
  | { outcome: "conflict"; reason: string }
  | { outcome: "failed"; reason: string }
  /** The caller aborted the call. */
  | { outcome: "aborted" };

const CLOCKS_DIFFER_MS_MAX = 3_600_000;
const TEXT = "text/plain; charset=utf-8";
const SIZE_ANSWER = /^(?:0|[1-9][0-9]{0,15})\n$/;

interface ExchangeDeps {
  receiver: Receiver;
  witness: Witness;
  nowMs: number;
  signal: AbortSignal;
}

/** Asks a witness to cosign a root, and sends the proof that the tree grew from `oldSize`. */
export async function exchange(
  { receiver, witness, nowMs, signal }: ExchangeDeps,
  root: SignedRoot,
  { oldSize, path }: { oldSize: number; path: readonly string[] },
): Promise<Exchange> {
  const proof = path.map((hash) => `${hashFromHex(hash).toBase64()}\n`).join("");
  const body = Buffer.from(`old ${oldSize}\n${proof}\n${root.note}`);
  const answer = await receiver.ask(body, { "Content-Type": TEXT }, signal);
  if (answer.result.outcome === "aborted") return { outcome: "aborted" };
  const { status } = answer.result;
  if (status === 409) return sizeOf(answer, root, oldSize);
  if (status === 422) {
    return { outcome: "conflict", reason: `the witness does not accept the proof from size ${oldSize}` };
  }
  if (answer.result.outcome === "refused") {
    return { outcome: "failed", reason: answer.result.error };
  }
  if (answer.text === null)
    return { outcome: "failed", reason: "The response is too long or is not UTF-8 text." };
  return cosignatureOf(answer.text, witness, root, nowMs);
}

function sizeOf({ text }: Answer, root: SignedRoot, oldSize: number): Exchange {
  const size = text !== null && SIZE_ANSWER.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(size))
    return { outcome: "failed", reason: "The witness answered 409 without a size." };
  if (size === oldSize) {
    return { outcome: "conflict", reason: `the witness knows another root of size ${root.size}` };
  }
  return { outcome: "other_size", size };
}

/** Finds the cosignature of the witness in a response. Ignores other signatures. */
async function cosignatureOf(
  text: string,
  { key, keyText }: Witness,
  root: SignedRoot,
  nowMs: number,
): Promise<Exchange> {
  const note = readNote(root.note + text);
  if (note === null)
    return { outcome: "failed", reason: "The response does not consist of signature lines of a note." };
  const keyId = noteKeyId(key);
  for (const signature of note.signatures) {
    if (signature.name !== key.name || signature.keyId !== keyId) continue;
    const [found] = await knownSignatures({ text: note.text, signatures: [signature] }, [key]);
    if (found === undefined || !found.isRight || found.timeS === null) continue;
    const cosignedMs = found.timeS * 1_000;
    if (Math.abs(cosignedMs - nowMs) > CLOCKS_DIFFER_MS_MAX) {
      return {
        outcome: "failed",
        reason: "The time of the cosignature differs from this server's clock by more than an hour.",
      };
    }
    const line = signatureLine(signature);
    const cosigned_at = new Date(cosignedMs);
    return { outcome: "cosigned", cosignature: { ...root, witness: keyText, line, cosigned_at } };
  }
  return {
    outcome: "failed",
    reason: "The response has no valid cosignature of this root by the key of the witness.",
  };
}
