import { afterEach, beforeEach } from "bun:test";
import { type AuditRecorder, createAuditRecorder } from "@ostiary/gateway/audit";
import { auditVariables } from "@ostiary/gateway/audit/config";
import type { AuditIntent } from "@ostiary/lib/contracts/audit";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { familiesIn } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";
import { Registry } from "prom-client";
import { type AuditStandIn, startAudit } from "../../../support/audit-stand-in.ts";
import { standInFor } from "../../../support/during-tests.ts";

/** A recorder whose log lines and metrics a test can read. */
export interface Recording extends AuditRecorder {
  readonly lines: string[];
  /** Returns the values of `audit_writes_total`. The keys are `<write> <result>`, such as `intent ok`. */
  counts(): Promise<Record<string, number>>;
  /** Returns the number of observations in `audit_intent_duration_seconds`, by result. */
  durations(): Promise<Record<string, number>>;
}

export function recording(environment: Record<string, string>, internalToken?: string): Recording {
  const registry = new Registry();
  const lines: string[] = [];
  const note = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
  const recorder = createAuditRecorder({
    config: { ...loadConfig(Type.Object(auditVariables), environment), INTERNAL_AUTH_TOKEN: internalToken },
    log: { info: note, warn: note, error: note },
    registry,
  });
  const family = async (metric: string) =>
    (await familiesIn(registry)).find(({ name }) => name === metric) ?? { type: null };
  return {
    ...recorder,
    lines,
    async counts() {
      const found = await family("audit_writes_total");
      const readings = found.type === "counter" ? Array.from(found.series) : [];
      return Object.fromEntries(
        readings.map(({ labels, value }) => [`${labels.write} ${labels.result}`, value]),
      );
    },
    async durations() {
      const found = await family("audit_intent_duration_seconds");
      const all = found.type === "histogram" ? Array.from(found.series) : [];
      return Object.fromEntries(all.map((series) => [`${series.labels.result}`, series.count()]));
    },
  };
}

/** Starts an audit stand-in and a recorder before each test, and stops them after the test. */
export function useRecording(): { audit: AuditStandIn; recorder: Recording } {
  let audit: AuditStandIn | undefined;
  let recorder: Recording | undefined;
  beforeEach(() => {
    audit = startAudit();
    recorder = recording({ AUDIT_URL: audit.url }, "inner-token");
  });
  afterEach(async () => {
    await recorder?.close(0);
    await audit?.stop();
  });
  return { audit: standInFor(() => audit), recorder: standInFor(() => recorder) };
}

export const intent: AuditIntent = {
  occurred_at: "2026-01-01T00:00:00.000Z",
  organization_id: "o1",
  user_id: null,
  actor: { member_id: "m1", auth_type: "member_apikey", key_prefix: "acme-k-2-AbCd" },
  service: "widgets",
  method: "POST",
  route: "/org/widgets/{widget_id}",
  params: { widget_id: "w1" },
  ip: "10.0.0.1",
  user_agent: null,
};
