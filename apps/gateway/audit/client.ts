import type { AuditIntent, AuditOutcome } from "@ostiary/lib/contracts/audit";
import { AUDIT_EVENTS_PATH, internalCallHeaders } from "@ostiary/lib/contracts/internal-api";
import { withoutTrailingSlashes } from "@ostiary/lib/runtime/config";
import { type BoundedAnswer, boundedCall } from "../upstream/bounded-call.ts";

/**
 * The two calls to the audit service (Identity specification, Audit internal API), each tried once. They
 * resolve with the status; rejections are `CallFailed`.
 */
export interface AuditClient {
  putIntent(request_id: string, intent: AuditIntent, timeout_ms: number): Promise<number>;
  patchOutcome(request_id: string, outcome: AuditOutcome, timeout_ms: number): Promise<number>;
}

export function createAuditClient(baseUrl: string, internalToken: string | undefined): AuditClient {
  const events = `${withoutTrailingSlashes(baseUrl)}${AUDIT_EVENTS_PATH}/`;
  const headers = internalCallHeaders(internalToken);
  const send = async (method: "PUT" | "PATCH", request_id: string, body: object, timeout_ms: number) => {
    const url = events + request_id;
    const answer: BoundedAnswer = await boundedCall({
      method,
      url,
      headers,
      body: JSON.stringify(body),
      timeout_ms,
    });
    return answer.status;
  };
  return {
    putIntent: (request_id, intent, timeout_ms) => send("PUT", request_id, intent, timeout_ms),
    patchOutcome: (request_id, outcome, timeout_ms) => send("PATCH", request_id, outcome, timeout_ms),
  };
}
