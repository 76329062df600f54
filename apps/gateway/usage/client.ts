import { internalCallHeaders, QUOTA_COUNTS_PATH, USAGE_PATH } from "@ostiary/lib/contracts/internal-api";
import type { QuotaName, UsageReport } from "@ostiary/lib/contracts/usage";
import { withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import { type BoundedAnswer, boundedCall } from "@ostiary/lib/runtime/bounded-call";
import type { PeerTls } from "@ostiary/lib/runtime/config";
import { peerClient } from "../upstream/peer-client.ts";

const TIMEOUT_MS = 5_000;
/** The timeout of a call for quota counts. It is short, because requests wait for the counts. */
const ASK_TIMEOUT_MS = 2_000;

/** The calls about usage to the audit service (AU-120, AU-192). A call rejects with `CallFailed`. */
export interface UsageClient {
  /** Sends a report and resolves with the status of the response. */
  put(number: number, report: UsageReport, timeoutMs?: number): Promise<number>;
  /** Requests the recorded counts of quotas. */
  ask(quotas: readonly QuotaName[]): Promise<BoundedAnswer>;
  /** Closes the idle connections. */
  close(): void;
}

interface UsageClientOptions {
  /** Internal base URL of the audit service. */
  readonly url: string;
  readonly internalToken: string | undefined;
  /** The name of this gateway process. */
  readonly instance: string;
  readonly tls?: PeerTls;
}

export function createUsageClient({ url, internalToken, instance, tls }: UsageClientOptions): UsageClient {
  const base = withoutTrailingSlashes(url);
  const headers = internalCallHeaders(internalToken);
  const carrier = peerClient(base);
  // Every call is repeatable: the number of a report makes its call idempotent, and a question changes nothing.
  const send = (method: "PUT" | "POST", path: string, body: object, timeoutMs: number) =>
    boundedCall(
      { method, url: base + path, headers, body: JSON.stringify(body), timeoutMs, repeatable: true, tls },
      carrier,
    );
  return {
    async put(number, report, timeoutMs = TIMEOUT_MS) {
      const path = `${USAGE_PATH}/${instance}/${number}`;
      return (await send("PUT", path, report, Math.min(timeoutMs, TIMEOUT_MS))).status;
    },
    ask: (quotas) => send("POST", QUOTA_COUNTS_PATH, { quotas }, ASK_TIMEOUT_MS),
    close: () => carrier.close(),
  };
}
