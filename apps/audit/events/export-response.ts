import { type ExportFormat, exportTypes } from "./event-export.ts";
import { type PaceLimits, ReadingPace } from "./reading-pace.ts";

/** The client took less than the least pace for too long. */
export class ReaderTooSlow extends Error {
  constructor({ bytes_per_second_min, lag_ms_max }: PaceLimits) {
    super(`The client fell ${lag_ms_max} ms behind ${bytes_per_second_min} bytes a second.`);
    this.name = "ReaderTooSlow";
  }
}

export interface ExportStream {
  format: ExportFormat;
  /** Asked for one by one as the client reads. */
  chunks: AsyncGenerator<string, void, void>;
  pace: PaceLimits;
  /** Aborts when the client leaves. */
  signal: AbortSignal;
  /** Called when nothing more is read from `chunks`, whatever happened; a second call means nothing. */
  ended(): void;
  /** Called when the export was broken off for another reason than that the client left. */
  broken(error: unknown): void;
}

/**
 * A response whose body is an export's chunks. The first is awaited here, so that a database that is away is still
 * a 503. The connection is broken when the chunks fail or the client is too slow, so that a client never takes a
 * part for the whole.
 */
export async function streamedExport(stream: ExportStream): Promise<Response> {
  const { chunks, signal } = stream;
  const end = async () => {
    await chunks.return().catch(stream.broken);
    stream.ended();
  };
  signal.addEventListener("abort", end, { once: true });
  try {
    const first = await chunks.next();
    // the body of a client that has left is not asked for, and its leaving may have come before the listener
    if (signal.aborted) await end();
    const body = new ReadableStream<Uint8Array>({
      // unlike others, a stream of this type can break off while the client does not read
      type: "direct",
      pull: (sink) => send(stream, first, sink).finally(end),
    });
    return new Response(body, { headers: exportHeaders(stream.format) });
  } catch (error) {
    await end();
    throw error;
  }
}

async function send(
  stream: ExportStream,
  first: IteratorResult<string, void>,
  sink: ReadableStreamDirectController,
): Promise<void> {
  const reader = new PacedReader(sink, stream.pace, stream.signal);
  const encoder = new TextEncoder();
  try {
    for (let next = first; !next.done; next = await stream.chunks.next()) {
      for (const piece of piecesOf(encoder.encode(next.value))) {
        await reader.take(piece);
        if (stream.signal.aborted) return;
      }
    }
    // before the client knows that it has everything, and may ask for more
    stream.ended();
    sink.end();
  } catch (error) {
    if (stream.signal.aborted) return;
    stream.broken(error);
    throw error;
  }
}

/** A pace is told by small pieces: of a large one nobody knows how much was taken. */
const PIECE_BYTES = 64 * 1024;

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void, void> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) yield bytes.subarray(from, from + PIECE_BYTES);
}

/** A client that takes what it is sent, at its pace. */
class PacedReader {
  readonly #sink: ReadableStreamDirectController;
  readonly #limits: PaceLimits;
  readonly #signal: AbortSignal;
  readonly #pace: ReadingPace;

  constructor(sink: ReadableStreamDirectController, limits: PaceLimits, signal: AbortSignal) {
    this.#sink = sink;
    this.#limits = limits;
    this.#signal = signal;
    this.#pace = new ReadingPace(limits);
  }

  /** Resolves when the client has taken `piece`, or has left; rejects with `ReaderTooSlow`. */
  async take(piece: Uint8Array): Promise<void> {
    const taken = this.#sink.write(piece);
    this.#sink.flush();
    if (typeof taken === "number") return this.#pace.took(piece.byteLength, 0);
    const started = performance.now();
    await this.#inTime(taken);
    this.#pace.took(piece.byteLength, performance.now() - started);
  }

  async #inTime(taken: Promise<unknown>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => reject(new ReaderTooSlow(this.#limits)), this.#pace.left_ms);
    this.#signal.addEventListener("abort", resolve, { once: true });
    taken.then(resolve, reject);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener("abort", resolve);
    }
  }
}

export function exportHeaders(format: ExportFormat): Record<string, string> {
  return {
    "Content-Type": exportTypes[format],
    "Content-Disposition": `attachment; filename="audit-events.${format}"`,
    Vary: "Accept",
  };
}
