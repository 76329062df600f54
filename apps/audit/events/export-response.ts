import { ApiError } from "@ostiary/lib/errors";
import { type ExportFormat, exportTypes } from "./event-export.ts";

const RETRY_AFTER_SECONDS = 10;

/** Exports keep a database connection for as long as their client reads: only so many run at once. */
export class ExportSlots {
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a slot and returns the function that gives it back; 429 when there is none. */
  take(): () => void {
    if (this.#free === 0) {
      throw new ApiError("RATE_LIMITED", {
        message: "Too many exports are running. Try again in a moment.",
        details: { retry_after_seconds: RETRY_AFTER_SECONDS },
        headers: { "Retry-After": String(RETRY_AFTER_SECONDS) },
      });
    }
    this.#free -= 1;
    let taken = true;
    return () => {
      if (taken) this.#free += 1;
      taken = false;
    };
  }
}

/**
 * A response whose body is `chunks`, asked for one by one as the client reads. The first is awaited here, so
 * that a database that is away is still a 503. Ends `chunks` when the client leaves, and breaks the connection
 * when they fail, so that a client never takes a part for the whole. `ended` is called once, whatever happens.
 */
export async function streamedExport(
  format: ExportFormat,
  chunks: AsyncGenerator<string, void, void>,
  ended: () => void,
): Promise<Response> {
  const encoder = new TextEncoder();
  const next = async () => {
    try {
      const { done, value } = await chunks.next();
      if (done) ended();
      return done ? null : encoder.encode(value);
    } catch (error) {
      ended();
      throw error;
    }
  };
  let pending: Uint8Array | null = await next();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pending === null) return controller.close();
        controller.enqueue(pending);
        pending = await next();
      },
      async cancel() {
        await chunks.return();
        ended();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: exportHeaders(format) });
}

export function exportHeaders(format: ExportFormat): Record<string, string> {
  return {
    "Content-Type": exportTypes[format],
    "Content-Disposition": `attachment; filename="audit-events.${format}"`,
    Vary: "Accept",
  };
}
