import { proofEndSchema } from "../contracts/audit/index.ts";
import { fits } from "../domain/errors/index.ts";
import { parseIJson, tryJson } from "../domain/json/index.ts";
import { readRoot, type TreeHead } from "../domain/tlog/index.ts";
import { linesOf } from "./export-lines.ts";

/** A root that the reader kept. Its signatures do not count: the reader trusts the place where it was kept. */
export interface KeptRoot {
  /** The name of the file. */
  name: string;
  head: TreeHead;
  /** The text of the note. */
  text: string;
}

/** The maximum length of a signed root, as for notes. */
const NOTE_LENGTH_MAX = 1_000_000;

/**
 * Reads a kept root: a signed root as `GET /audit-log/checkpoint` serves it, or an export with proof, whose last line
 * has one. Returns null for any other file.
 *
 * @throws NotLines
 */
export async function readKeptRoot(name: string, bytes: AsyncIterable<Uint8Array>): Promise<KeptRoot | null> {
  let text = "";
  let last = "";
  for await (const line of linesOf(bytes)) {
    last = line === "" ? last : line;
    if (text.length <= NOTE_LENGTH_MAX) text += `${line}\n`;
  }
  const end = tryJson(last, parseIJson);
  const note = fits(proofEndSchema, end) ? end.note : text;
  const head = readRoot(note)?.head ?? null;
  return note === null || head === null ? null : { name, head, text: note };
}
