import { ApiError } from "@ostiary/lib/domain/errors";

/** The parsed body of an add-checkpoint call (C2SP tlog-witness). Nothing in it is verified. */
export interface Submission {
  /** The size of the tree at which the proof starts. */
  oldSize: number;
  /** The consistency proof, as hashes of 32 bytes. */
  proof: readonly Uint8Array[];
  /** The text of the signed note. */
  note: string;
}

/** The maximum number of lines of a proof. */
const PROOF_LINES_MAX = 63;
const OLD_LINE = /^old (0|[1-9][0-9]{0,15})$/;
/** 32 bytes in canonical base64: the unused bits of the last digit are zero. */
const HASH_LINE = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/**
 * Reads the body of add-checkpoint: `old` and a size, the lines of the proof, an empty line, and the note.
 *
 * @throws ApiError 400 that says which part is wrong
 */
export function readSubmission(text: string): Submission {
  const end = text.indexOf("\n\n");
  if (end < 0) throw malformed("The body has no empty line before the checkpoint.");
  const [first = "", ...proof] = text.slice(0, end).split("\n");
  const oldSize = Number(OLD_LINE.exec(first)?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(oldSize)) {
    throw malformed('The first line must be "old", a space and a size without leading zeros.');
  }
  if (proof.length > PROOF_LINES_MAX) throw malformed(`A proof has at most ${PROOF_LINES_MAX} lines.`);
  if (!proof.every((line) => HASH_LINE.test(line))) {
    throw malformed("Each line of the proof must be a hash of 32 bytes in base64.");
  }
  return { oldSize, proof: proof.map((line) => Buffer.from(line, "base64")), note: text.slice(end + 2) };
}

export function malformed(message: string): ApiError {
  return new ApiError("INVALID_REQUEST", { message });
}
