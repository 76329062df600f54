import type { Clock } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { contextOf } from "@ostiary/lib/runtime/http";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type EventLog, EXPORT_NAME } from "../events/event.ts";
import { checkAskedRoot, type ProofDeps, proofChunks } from "../proof/index.ts";
import { type ExportForm, type ExportFormat, exportChunks, exportHeaders } from "./formats.ts";
import { ExportSlot, ExportSlots, type PaceLimits, ReaderTooSlow } from "./slots.ts";
import { streamedExport } from "./streamed-export.ts";

interface ExportsDeps {
  proof: ProofDeps;
  pace: PaceLimits;
  clock: Clock;
  log: Logger;
}

export class Exports {
  readonly #deps: ExportsDeps;
  readonly #slots: ExportSlots;

  constructor(deps: ExportsDeps) {
    this.#deps = deps;
    this.#slots = new ExportSlots(deps.clock);
  }

  /** Streams other items of a log's owner, such as usage. The limits count this export as an export of the log. */
  async respond<Item>(
    request: Request,
    format: ExportFormat,
    { log, form, batches }: { log: EventLog; form: ExportForm<Item>; batches: AsyncIterable<Item[]> },
  ): Promise<Response> {
    const headers = exportHeaders(format, form.name);
    return this.#stream(request, headers, log, exportChunks(format, form, batches));
  }

  /**
   * Streams a whole log with its proof (AU-61). If `asked` is not null, the proof includes the log's head at the end of
   * the tree of this size.
   *
   * @throws ApiError 422 if the log has no root of this size
   */
  async respondWithProof(request: Request, log: EventLog, asked: number | null): Promise<Response> {
    const { proof } = this.#deps;
    if (asked !== null) await checkAskedRoot(proof, asked);
    const headers = exportHeaders("ndjson", EXPORT_NAME);
    return this.#stream(request, headers, log, proofChunks(proof, log, asked, request.signal));
  }

  async #stream(
    request: Request,
    headers: Record<string, string>,
    { kind, id }: EventLog,
    chunks: AsyncGenerator<string, void, void>,
  ): Promise<Response> {
    if (request.method === "HEAD") return new Response(null, { headers });
    const { pace, clock } = this.#deps;
    const slot = new ExportSlot(`${kind}:${id}`, pace);
    const ended = await this.#slots.take(slot);
    return streamedExport({
      headers,
      chunks,
      slot,
      clock,
      signal: request.signal,
      ended,
      broken: (error) =>
        this.#logBroken({ request_id: contextOf(request).request_id, [`${kind}_id`]: id }, error),
    });
  }

  /** Logs an export that broke off. The request's own log line has the status that was sent before the failure. */
  #logBroken(about: Record<string, string>, error: unknown): void {
    const { log } = this.#deps;
    const fields = { ...about, error_message: reasonOf(error) };
    if (error instanceof ReaderTooSlow) log.warn(fields, "export broken off: its client read too slowly");
    else log.error(fields, "export broken off");
  }
}
