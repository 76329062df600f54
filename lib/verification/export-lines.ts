import { proofEndSchema } from "../contracts/audit/index.ts";
import { fits } from "../domain/errors/index.ts";
import { parseIJson, tryJson } from "../domain/json/index.ts";
import { readRoot, type TreeHead } from "../domain/tlog/index.ts";

/**
 * The maximum number of characters in one line of an export. A line is one event of some kilobytes, or the
 * end of a proof.
 */
const LINE_LENGTH_MAX = 64 * 1024 * 1024;

/** The error for bytes that cannot be the lines of an export. */
export class NotLines extends Error {
  readonly problem: "line_too_long" | "not_utf8";

  constructor(problem: NotLines["problem"]) {
    super(problem === "not_utf8" ? "The text is not UTF-8." : "A line is too long for an export.");
    this.name = "NotLines";
    this.problem = problem;
  }
}

/**
 * Yields the lines of a byte stream as they arrive, with at most one chunk and one line in memory.
 *
 * @throws NotLines
 */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const text of textOf(bytes)) {
    // splits each chunk once, because a line of many chunks would be copied with each of them
    const parts = text.split("\n");
    parts[0] = rest + parts[0];
    rest = parts.pop() ?? "";
    if (rest.length > LINE_LENGTH_MAX) throw new NotLines("line_too_long");
    yield* parts;
  }
  if (rest !== "") yield rest;
}

async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decoded = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new NotLines("not_utf8");
    }
  };
  for await (const chunk of bytes) yield decoded(chunk);
  yield decoded();
}

/** A root that the reader kept. Its signatures do not count: the reader trusts the place where it was kept. */
export interface KeptRoot {
  name: string;
  head: TreeHead;
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
