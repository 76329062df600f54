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
import type { QuotaName, UsageReport } from "@ostiary/lib/contracts/usage-contract";
import { withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import { boundedCall } from "@ostiary/lib/runtime/bounded-call";
import type { PeerTls } from "@ostiary/lib/runtime/config";
import type { Tracing } from "@ostiary/lib/runtime/telemetry";
import { peerClient } from "../upstream/peer-client.ts";

/** The timeout of a call for quota counts. It is short, because requests wait for the counts. */
const QUOTA_TIMEOUT_MS = 2_000;

export type AuditClient = ReturnType<typeof createAuditClient>;

interface ClientOptions {
  readonly tls?: PeerTls;
  readonly tracing?: Pick<Tracing, "call">;
  readonly clock?: Pick<Clock, "after">;
}

/**
 * The calls to the audit service (AU-9, AU-17, AU-120). A call rejects with `CallFailed`. Only calls about usage are
 * repeated over a new connection: the number of a report makes its call idempotent, and a question changes
 * nothing.
 */
export function createAuditClient(
  baseUrl: string,
  internalToken: string | undefined,
  { tls, tracing, clock }: ClientOptions = {},
) {
  const base = withoutTrailingSlashes(baseUrl);
  const headers = internalCallHeaders(internalToken);
  const transport = peerClient(base);
  const send = (
    method: "PUT" | "PATCH" | "POST",
    path: string,
    body: object,
    timeoutMs: number,
    repeatable = false,
  ) => {
    const call = { method, url: base + path, headers, body: JSON.stringify(body), timeoutMs, repeatable };
    return boundedCall({ ...call, tls, tracing, clock }, transport);
  };
  const statusOf = async (...call: Parameters<typeof send>) => (await send(...call)).status;
  const pathOf = (request_id: string) => `${AUDIT_EVENTS_PATH}/${request_id}`;
  return {
    putIntent: (request_id: string, intent: AuditIntent, timeoutMs: number) =>
      statusOf("PUT", pathOf(request_id), intent, timeoutMs),
    patchOutcome: (request_id: string, outcome: AuditOutcome, timeoutMs: number) =>
      statusOf("PATCH", pathOf(request_id), outcome, timeoutMs),
    postIntents: (intents: readonly IdentifiedIntent[], timeoutMs: number) =>
      send("POST", AUDIT_INTENTS_PATH, { intents }, timeoutMs),
    postOutcomes: (outcomes: readonly IdentifiedOutcome[], timeoutMs: number) =>
      send("POST", AUDIT_OUTCOMES_PATH, { outcomes }, timeoutMs),
    putUsage: (instance: string, number: number, report: UsageReport, timeoutMs: number) =>
      statusOf("PUT", `${USAGE_PATH}/${instance}/${number}`, report, timeoutMs, true),
    postQuotas: (quotas: readonly QuotaName[]) =>
      send("POST", QUOTA_COUNTS_PATH, { quotas }, QUOTA_TIMEOUT_MS, true),
    close: () => transport.close(),
  };
}
