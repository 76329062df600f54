import { afterEach, beforeEach } from "bun:test";
import { type Clock, systemClock } from "@ostiary/lib/async";
import type { AuditIntent } from "@ostiary/lib/contracts/audit";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { familiesIn } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";
import { Registry } from "prom-client";
import { auditVariables } from "../../../../apps/gateway/audit/config.ts";
import { type AuditRecorder, createAuditRecorder } from "../../../../apps/gateway/audit/recorder.ts";
import { standInFor } from "../../../support/during-tests.ts";
import { type AuditStandIn, startAudit } from "../../../support/gateway/audit-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";

/** A recorder whose log lines and metrics a test can read. */
export interface Recording extends AuditRecorder {
  readonly lines: string[];
  /** Returns the values of `audit_writes_total`. The keys are `<write> <result>`, such as `intent ok`. */
  counts(): Promise<Record<string, number>>;
  /** Returns the number of observations in `audit_intent_duration_seconds`, by result. */
  durations(): Promise<Record<string, number>>;
}

export function recording(
  environment: Record<string, string>,
  { internalToken, clock }: { internalToken?: string; clock?: Clock } = {},
): Recording {
  const registry = new Registry();
  const lines: string[] = [];
  const note = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
  const recorder = createAuditRecorder({
    config: { ...loadConfig(Type.Object(auditVariables), environment), INTERNAL_AUTH_TOKEN: internalToken },
    log: { info: note, warn: note, error: note },
    registry,
    clock,
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
  return useRecordingOn(
    () => systemClock,
    () => {},
  );
}

/** Does the same as `useRecording`, but timeouts and pauses of the recorder pass only when a test moves `clock`. */
export function useTimedRecording(): { audit: AuditStandIn; recorder: Recording; clock: ManualClock } {
  return useRecordingOn(manualClock, (clock) => clock.advance(0));
}

function useRecordingOn<Time extends Clock>(newClock: () => Time, closing: (clock: Time) => void) {
  let running: { audit: AuditStandIn; recorder: Recording; clock: Time } | undefined;
  beforeEach(() => {
    const clock = newClock();
    const audit = startAudit();
    const recorder = recording({ AUDIT_URL: audit.url }, { internalToken: "inner-token", clock });
    running = { audit, recorder, clock };
  });
  afterEach(async () => {
    const closed = running?.recorder.close(0);
    if (running !== undefined) closing(running.clock);
    await closed;
    await running?.audit.stop();
  });
  return {
    audit: standInFor(() => running?.audit),
    recorder: standInFor(() => running?.recorder),
    clock: standInFor(() => running?.clock),
  };
}

/** The pauses between attempts to write an intent are shorter, and the timeouts of attempts are not. */
const PAUSE_MAX_MS = 400;

/** Waits until this many intents pause between two attempts, and lets their pauses pass. */
export async function pausesPass(clock: ManualClock, count = 1): Promise<void> {
  const longestMs = await waitFor(
    () => {
      const all = clock.waiting();
      return all.length === count && all.every((ms) => ms < PAUSE_MAX_MS) ? all.at(-1) : null;
    },
    { what: "the pauses between attempts" },
  );
  clock.advance(longestMs);
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
