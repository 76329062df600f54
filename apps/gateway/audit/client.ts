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
  QUOTA_COUNTS_PATH,
  USAGE_PATH,
} from "@ostiary/lib/contracts/internal-api";
import type { QuotaName, UsageReport } from "@ostiary/lib/contracts/usage";
import { withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import { type BoundedAnswer, boundedCall } from "@ostiary/lib/runtime/bounded-call";
import type { PeerTls } from "@ostiary/lib/runtime/config";
import type { Tracing } from "@ostiary/lib/runtime/telemetry";
import { peerClient } from "../upstream/peer-client.ts";

/** The timeout of a call for quota counts. It is short, because requests wait for the counts. */
const QUOTA_TIMEOUT_MS = 2_000;

/**
 * The calls to the audit service (AU-9, AU-17). A call rejects with `CallFailed`. Only calls about usage are
 * repeated over a new connection: the number of a report makes its call idempotent, and a question changes
 * nothing.
 */
export interface AuditClient {
  /** Sends one intent and resolves with the status of the response. */
  putIntent(request_id: string, intent: AuditIntent, timeoutMs: number): Promise<number>;
  /** Sends one outcome and resolves with the status of the response. */
  patchOutcome(request_id: string, outcome: AuditOutcome, timeoutMs: number): Promise<number>;
  postIntents(intents: readonly IdentifiedIntent[], timeoutMs: number): Promise<BoundedAnswer>;
  postOutcomes(outcomes: readonly IdentifiedOutcome[], timeoutMs: number): Promise<BoundedAnswer>;
  /** Sends the usage report of a gateway process and resolves with the status of the response (AU-120). */
  putUsage(instance: string, number: number, report: UsageReport, timeoutMs: number): Promise<number>;
  postQuotas(quotas: readonly QuotaName[]): Promise<BoundedAnswer>;
  close(): void;
}

interface ClientOptions {
  readonly tls?: PeerTls;
  readonly tracing?: Pick<Tracing, "call">;
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
  const send = (
    method: "PUT" | "PATCH" | "POST",
    path: string,
    body: object,
    timeoutMs: number,
    repeatable = false,
  ) => {
    const call = { method, url: base + path, headers, body: JSON.stringify(body), timeoutMs, repeatable };
    return boundedCall({ ...call, tls, tracing, clock }, carrier);
  };
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
    async putUsage(instance, number, report, timeoutMs) {
      return (await send("PUT", `${USAGE_PATH}/${instance}/${number}`, report, timeoutMs, true)).status;
    },
    postQuotas: (quotas) => send("POST", QUOTA_COUNTS_PATH, { quotas }, QUOTA_TIMEOUT_MS, true),
    close: () => carrier.close(),
  };
}
