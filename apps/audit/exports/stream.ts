import { type Clock, withDeadline } from "@ostiary/lib/async";
import { type ExportFormat, exportHeaders } from "./formats.ts";

/** How slowly a client may read an export. */
export interface PaceLimits {
  bytes_per_second_min: number;
  /** How far a client may fall behind that pace. */
  lag_ms_max: number;
}

/**
 * How far one client is behind the least pace. Time counts only while the client lets us wait, so that a slow
 * database is never held against it; what it took early is not credited later.
 */
export class ReadingPace {
  readonly #limits: PaceLimits;
  #lag_ms = 0;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
  }

  /** How much longer the client may let us wait. */
  get left_ms(): number {
    return Math.max(0, this.#limits.lag_ms_max - this.#lag_ms);
  }

  /** The client took `bytes` after `waited_ms`. */
  took(bytes: number, waited_ms: number): void {
    const due_ms = (bytes * 1000) / this.#limits.bytes_per_second_min;
    this.#lag_ms = Math.max(0, this.#lag_ms + waited_ms - due_ms);
  }
}

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
  clock: Clock;
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
  const reader = new PacedReader(sink, stream);
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
  readonly #stream: ExportStream;
  readonly #pace: ReadingPace;

  constructor(sink: ReadableStreamDirectController, stream: ExportStream) {
    this.#sink = sink;
    this.#stream = stream;
    this.#pace = new ReadingPace(stream.pace);
  }

  /** Resolves when the client has taken `piece`, or has left; rejects with `ReaderTooSlow`. */
  async take(piece: Uint8Array): Promise<void> {
    const taken = this.#sink.write(piece);
    this.#sink.flush();
    if (typeof taken === "number") return this.#pace.took(piece.byteLength, 0);
    const { clock } = this.#stream;
    const started_ms = clock.elapsed_ms();
    await this.#inTime(taken);
    this.#pace.took(piece.byteLength, clock.elapsed_ms() - started_ms);
  }

  async #inTime(taken: Promise<unknown>): Promise<void> {
    const { signal, pace, clock } = this.#stream;
    const left = Promise.withResolvers<void>();
    const onAbort = () => left.resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const takenOrLeft = Promise.race([taken, left.promise]);
      await withDeadline(takenOrLeft, this.#pace.left_ms, () => new ReaderTooSlow(pace), clock);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}
