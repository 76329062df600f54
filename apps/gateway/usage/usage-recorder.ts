import { peerTls } from "@ostiary/lib/runtime/config";
import {
  collectedCounter,
  collectedGauge,
  type Logger,
  type Metrics,
  readingsBy,
} from "@ostiary/lib/runtime/telemetry";
import { createAuditClient } from "../audit/audit-client.ts";
import type { AuditConfig } from "../audit/config.ts";
import type { QuotaRecord } from "../limits/limit-set.ts";
import { type EndedRequest, UsageCounter } from "./counter.ts";
import { QuotaCharges } from "./quota-charges.ts";
import { QuotaCountLookup } from "./quota-count-lookup.ts";
import { UsageReporter } from "./reporter.ts";

export interface UsageRecorder {
  count(request: EndedRequest, status: number | null, failure: Error | null, duration_ms: number): void;
  readonly quotas: QuotaRecord | null;
  start(): void;
  close(deadlineMs: number): Promise<void>;
}

interface UsageRecorderOptions {
  readonly config: AuditConfig & { readonly INTERNAL_AUTH_TOKEN?: string };
  readonly instance: string;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly registry: Metrics["registry"];
}

/** Returns the recorder. Without an audit service, the recorder counts nothing. */
export function createUsageRecorder({
  config,
  instance,
  log,
  registry,
}: UsageRecorderOptions): UsageRecorder {
  if (!config.AUDIT_ENABLED || config.AUDIT_URL === undefined) return countNothing;
  const counter = new UsageCounter();
  const tls = peerTls(config, "AUDIT");
  const client = createAuditClient(config.AUDIT_URL, config.INTERNAL_AUTH_TOKEN, { tls });
  const charges = new QuotaCharges();
  const quotaCounts = new QuotaCountLookup({ client, log });
  const reporter = new UsageReporter({ counter, charges, client, instance, log });
  collectedCounter(registry, {
    name: "gateway_usage_reports_total",
    help: "Usage reports to the audit service, by result (ok, failed, refused).",
    read: () => readingsBy("result", reporter.results),
  });
  collectedCounter(registry, {
    name: "gateway_usage_uncounted_total",
    help: "Requests of organizations that no accepted usage report contains. The gateway had no room, audit refused an id or the report, or the gateway stopped while audit was unavailable.",
    read: () => counter.uncounted,
  });
  collectedGauge(registry, {
    name: "gateway_usage_counts_waiting",
    help: "Usage counts that wait for a report.",
    read: () => counter.waiting,
  });
  collectedCounter(registry, {
    name: "gateway_quota_questions_total",
    help: "Calls to the audit service for the counts of quotas, by result (ok, failed, refused).",
    read: () => readingsBy("result", quotaCounts.results),
  });
  collectedCounter(registry, {
    name: "gateway_quota_charges_lost_total",
    help: "Charges to quotas that no accepted usage report contains. The gateway had no room, audit refused a subject or the report, or the gateway stopped while audit was unavailable.",
    read: () => charges.lost,
  });
  return {
    count: counter.count.bind(counter),
    quotas: {
      charged: (quota, requests) => charges.add(quota, requests),
      known: (quota) => quotaCounts.of(quota),
    },
    start: () => reporter.start(),
    close: (deadlineMs) => reporter.close(deadlineMs),
  };
}

const countNothing: UsageRecorder = {
  count() {},
  quotas: null,
  start() {},
  async close() {},
};
