import type { ApiError } from "@ostiary/lib/domain/errors";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { intentOf } from "../audit/intent.ts";
import type { AuditRecorder } from "../audit/recorder.ts";
import { readResponseNotes } from "../audit/response-notes.ts";
import type { Exchange } from "../exchange.ts";
import type { RelayedResponse } from "./forward.ts";

/**
 * Steps 4 and 8: writes one event for each audited request (GW-134). Queues exactly one outcome for each
 * recorded intent.
 */
export class AuditEvents {
  readonly #recorder: AuditRecorder;
  readonly #log: Logger;

  constructor(recorder: AuditRecorder, log: Logger) {
    this.#recorder = recorder;
    this.#log = log;
  }

  covers(exchange: Exchange): boolean {
    return exchange.route.audited && this.#recorder.enabled;
  }

  /** @throws ApiError 503 if the intent could not be written: the service must not be called */
  async intent(exchange: Exchange): Promise<void> {
    const { route, match, principal, request, ip, receivedAtMs } = exchange;
    if (match === null || principal === null) return;
    const user_agent = request.headers.get("user-agent");
    const intent = intentOf({ route, values: match.params, principal, ip, user_agent, receivedAtMs });
    await this.#recorder.intent(exchange.request_id, intent);
    exchange.intentRecorded = true;
  }

  responded(exchange: Exchange, { status, fields }: Pick<RelayedResponse, "status" | "fields">): void {
    if (!exchange.intentRecorded) return;
    exchange.intentRecorded = false;
    const { request_id, route } = exchange;
    const notes = readResponseNotes(fields, route.scope, status, (header, reason) => {
      this.#log.warn({ request_id, route: route.path, header, reason }, "audit header ignored");
    });
    this.#recorder.outcome(request_id, { outcome: "responded", status, ...notes });
  }

  /**
   * Records that the gateway responded with `error`, either without a call to the service or because the
   * service did not respond.
   */
  failed(exchange: Exchange, error: ApiError): void {
    this.#close(exchange, exchange.forwarded ? "no_response" : "rejected", error.status);
  }

  abandoned(exchange: Exchange): void {
    this.#close(exchange, "no_response", null);
  }

  #close(exchange: Exchange, outcome: "rejected" | "no_response", status: number | null): void {
    if (!exchange.intentRecorded) return;
    exchange.intentRecorded = false;
    this.#recorder.outcome(exchange.request_id, { outcome, status });
  }
}
