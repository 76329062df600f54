import type { Clock } from "@ostiary/lib/async";
import type {
  AuditIntent,
  AuditOutcome,
  IdentifiedIntent,
  IdentifiedOutcome,
} from "@ostiary/lib/contracts/audit";
import {
  AUDIT_EVENTS_PATH,
  AUDIT_INTENTS_PATH,
  AUDIT_OUTCOMES_PATH,
  internalCallHeaders,
} from "@ostiary/lib/contracts/internal-api";
import { withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import { type BoundedAnswer, boundedCall } from "@ostiary/lib/runtime/bounded-call";
import type { PeerTls } from "@ostiary/lib/runtime/config";
import type { Tracing } from "@ostiary/lib/runtime/telemetry";
import { peerClient } from "../upstream/peer-client.ts";

/** The calls to the audit service (AU-9, AU-17). A call is never retried, and rejects with `CallFailed`. */
export interface AuditClient {
  /** Sends one intent and resolves with the status of the response. */
  putIntent(request_id: string, intent: AuditIntent, timeoutMs: number): Promise<number>;
  /** Sends one outcome and resolves with the status of the response. */
  patchOutcome(request_id: string, outcome: AuditOutcome, timeoutMs: number): Promise<number>;
  /** Sends the intents of several requests. */
  postIntents(intents: readonly IdentifiedIntent[], timeoutMs: number): Promise<BoundedAnswer>;
  /** Sends the outcomes of several requests (AU-24). */
  postOutcomes(outcomes: readonly IdentifiedOutcome[], timeoutMs: number): Promise<BoundedAnswer>;
  /** Closes the idle connections. */
  close(): void;
}

interface ClientOptions {
  readonly tls?: PeerTls;
  readonly tracing?: Pick<Tracing, "call">;
  /** The clock of the timeouts. */
  readonly clock?: Pick<Clock, "after">;
}

export function createAuditClient(
  baseUrl: string,
  internalToken: string | undefined,
  { tls, tracing, clock }: ClientOptions = {},
): AuditClient {
  const base = withoutTrailingSlashes(baseUrl);
  const headers = internalCallHeaders(internalToken);
  const carrier = peerClient(base);
  const send = (method: "PUT" | "PATCH" | "POST", path: string, body: object, timeoutMs: number) =>
    boundedCall(
      { method, url: base + path, headers, body: JSON.stringify(body), timeoutMs, tls, tracing, clock },
      carrier,
    );
  const pathOf = (request_id: string) => `${AUDIT_EVENTS_PATH}/${request_id}`;
  return {
    async putIntent(request_id, intent, timeoutMs) {
      return (await send("PUT", pathOf(request_id), intent, timeoutMs)).status;
    },
    async patchOutcome(request_id, outcome, timeoutMs) {
      return (await send("PATCH", pathOf(request_id), outcome, timeoutMs)).status;
    },
    postIntents: (intents, timeoutMs) => send("POST", AUDIT_INTENTS_PATH, { intents }, timeoutMs),
    postOutcomes: (outcomes, timeoutMs) => send("POST", AUDIT_OUTCOMES_PATH, { outcomes }, timeoutMs),
    close: () => carrier.close(),
  };
}
