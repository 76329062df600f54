import { type Clock, withDeadline } from "@ostiary/lib/async";
import type { ExportSlot } from "./slots.ts";

interface ExportStream {
  headers: Record<string, string>;
  /** The chunks of the body, requested one by one as the client reads. */
  chunks: AsyncGenerator<string, void, void>;
  slot: ExportSlot;
  clock: Clock;
  signal: AbortSignal;
  /** Called once or more when `chunks` is no longer read. Must ignore repeated calls. */
  ended(): void;
  /** Called when the export broke off although the client was still connected. */
  broken(error: unknown): void;
}

/**
 * Returns a response that streams an export. Waits for the first chunk, so that the service responds with 503 if the
 * database is unavailable. If the chunks fail or the client is too slow, the connection breaks, so that no client
 * mistakes a part for the whole.
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
    // the client may have disconnected before the listener was added: then nobody reads the body
    if (signal.aborted) await end();
    const body = new ReadableStream<Uint8Array>({
      // only a direct stream can break the connection while the client does not read
      type: "direct",
      pull: (sink) => send(stream, first, sink).finally(end),
    });
    return new Response(body, { headers: stream.headers });
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
  const encoder = new TextEncoder();
  try {
    for (let next = first; !next.done; next = await stream.chunks.next()) {
      for (const piece of piecesOf(encoder.encode(next.value))) {
        await take(stream, sink, piece);
        if (stream.signal.aborted) return;
      }
    }
    // frees the slot before the client sees the end of the export, because the client may then request
    // another export
    stream.ended();
    sink.end();
  } catch (error) {
    if (stream.signal.aborted) return;
    stream.broken(error);
    throw error;
  }
}

/**
 * The size of the pieces in which a chunk is sent. The pace is measured after each piece, because a sink does
 * not report progress within a write.
 */
const PIECE_BYTES = 64 * 1024;

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void, void> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) yield bytes.subarray(from, from + PIECE_BYTES);
}

/** Sends `piece`. Resolves when the client has read it or has disconnected; rejects with `ReaderTooSlow`. */
async function take(
  { signal, slot, clock }: ExportStream,
  sink: ReadableStreamDirectController,
  piece: Uint8Array,
): Promise<void> {
  if (slot.signal.aborted) throw slot.tooSlow();
  const taken = sink.write(piece);
  sink.flush();
  if (typeof taken === "number") return slot.took(piece.byteLength, 0);
  const startedMs = clock.elapsedMs();
  const ended = Promise.withResolvers<void>();
  const onAbort = () => ended.resolve();
  const signals = [signal, slot.signal];
  for (const each of signals) each.addEventListener("abort", onAbort, { once: true });
  try {
    const takenOrEnded = Promise.race([taken, ended.promise]);
    await withDeadline(takenOrEnded, slot.leftMs, () => slot.tooSlow(), clock);
    if (slot.signal.aborted && !signal.aborted) throw slot.tooSlow();
  } finally {
    for (const each of signals) each.removeEventListener("abort", onAbort);
  }
  slot.took(piece.byteLength, clock.elapsedMs() - startedMs);
}
