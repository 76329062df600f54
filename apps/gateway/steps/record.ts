import type { ApiError } from "@ostiary/lib/domain/errors";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { intentOf } from "../audit/intent.ts";
import type { AuditRecorder } from "../audit/recorder.ts";
import { readResponseNotes } from "../audit/response-notes.ts";
import type { Exchange } from "../exchange.ts";
import type { UpstreamAnswer } from "./forward.ts";

/**
 * Steps 4 and 8: one event for each audited request (Identity specification, Which log and when an event exists).
 * An intent that was recorded gets exactly one outcome.
 */
export class AuditTrail {
  readonly #recorder: AuditRecorder;
  readonly #log: Logger;

  constructor(recorder: AuditRecorder, log: Logger) {
    this.#recorder = recorder;
    this.#log = log;
  }

  /** Whether requests of this exchange's route leave an event. */
  covers(exchange: Exchange): boolean {
    return exchange.route.audited && this.#recorder.enabled;
  }

  /** @throws ApiError 503 when the intent could not be written: the service must not be called */
  async intent(exchange: Exchange): Promise<void> {
    const { route, match, principal, request, ip, received_at_ms } = exchange;
    if (match === null || principal === null) return;
    const user_agent = request.headers.get("user-agent");
    const intent = intentOf({ route, values: match.params, principal, ip, user_agent, received_at_ms });
    await this.#recorder.intent(exchange.request_id, intent);
    exchange.intent_recorded = true;
  }

  /** The service answered. */
  responded(exchange: Exchange, { status, headers }: Pick<UpstreamAnswer, "status" | "headers">): void {
    if (!exchange.intent_recorded) return;
    exchange.intent_recorded = false;
    const { request_id, route } = exchange;
    const notes = readResponseNotes(headers, route.scope, status, (header, reason) => {
      this.#log.warn({ request_id, route: route.path, header, reason }, "audit header ignored");
    });
    this.#recorder.outcome(request_id, { outcome: "responded", status, ...notes });
  }

  /** The gateway answered `error` itself: without calling the service, or because it gave no answer. */
  failed(exchange: Exchange, error: ApiError): void {
    this.#close(exchange, exchange.forwarded ? "no_response" : "rejected", error.status);
  }

  /** The client left before it had an answer. */
  abandoned(exchange: Exchange): void {
    this.#close(exchange, "no_response", null);
  }

  #close(exchange: Exchange, outcome: "rejected" | "no_response", status: number | null): void {
    if (!exchange.intent_recorded) return;
    exchange.intent_recorded = false;
    this.#recorder.outcome(exchange.request_id, { outcome, status });
  }
}
