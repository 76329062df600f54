import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter } from "prom-client";
import type { ReportResult } from "./sql.ts";

/** Counts the reports of gateways (OP-50). */
export interface UsageMetrics {
  report(result: ReportResult): void;
}

export function createUsageMetrics({ registry }: Metrics): UsageMetrics {
  const reports = new Counter({
    name: "audit_usage_reports_total",
    help: "Usage reports from gateways by result: created for a new report, existing for a repeated one.",
    labelNames: ["result"] as const,
    registers: [registry],
  });
  for (const result of ["created", "existing"] as const) reports.inc({ result }, 0);
  return { report: (result) => reports.inc({ result }) };
}
