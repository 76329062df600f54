/**
 * The maximum number of characters in one line of an export. A line is one event of some kilobytes, or the
 * end of a proof.
 */
export const LINE_LENGTH_MAX = 64 * 1024 * 1024;

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
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const text of textOf(bytes)) {
    if (signal?.aborted) return;
    const parts = (rest + text).split("\n");
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
