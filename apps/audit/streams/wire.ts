import { readFileSync } from "node:fs";
import type { Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import type { AuditConfig } from "../config.ts";
import { Dispatcher } from "./dispatcher.ts";
import type { StreamHandlersDeps } from "./handlers.ts";
import { StreamKeys } from "./key-file.ts";
import { createDeliveryMetrics, createOperatorGauges, createStreamGauges } from "./metrics.ts";
import { operatorStreamOf } from "./operator/config.ts";
import { operatorStream } from "./operator/stream.ts";
import { organizationStreams } from "./organization-streams.ts";
import type { ReceiverDeps } from "./receiver-call.ts";
import { rekeying } from "./rekey-sql.ts";
import { SecretBox } from "./secrets.ts";
import { watchStreams } from "./status-readings.ts";
import { targetRulesOf } from "./targets.ts";
import { TestCalls } from "./test-calls.ts";

/** The stores, the clock and the telemetry that all parts of the service use. */
export interface Shared {
  reads: Database;
  writes: Database;
  clock: Clock;
  telemetry: Telemetry;
}

type Background = Pick<Loop, "start" | "stop">;

interface StreamParts {
  handlers: StreamHandlersDeps;
  /**
   * The tasks that deliver and maintain streams. Without a key for secrets, nothing can be signed for
   * organizations, so their streams are not delivered. Without settings, the operator has no stream.
   */
  background: readonly Background[];
}

/**
 * Builds the parts of streams from the configuration. Handlers use the stores of `given`, and the tasks those of
 * `background`.
 */
export async function wireStreams(
  config: AuditConfig,
  given: Shared,
  { reads, writes }: Shared,
): Promise<StreamParts> {
  const { clock, telemetry } = given;
  const { log } = telemetry;
  const keyFile = config.AUDIT_STREAM_KEY_FILE;
  const receivers = receiverDepsOf(config, clock);
  const shared = { reads, writes, clock, receivers };
  const secrets = keyFile === undefined ? null : new SecretBox(await StreamKeys.open(keyFile, clock, log));
  const metrics = createDeliveryMetrics(telemetry.metrics);
  const settings = operatorStreamOf(config);
  const watch = watchStreams({ reads, clock, log, hasOperatorStream: settings !== null });
  createStreamGauges(telemetry.metrics, () => watch.newest.statuses);
  if (settings !== null) createOperatorGauges(telemetry.metrics, () => watch.newest.operator);
  const delivery = { ...shared, log, metrics };
  const background: Background[] = [watch.loop];
  if (secrets !== null) {
    background.push(new Dispatcher(organizationStreams({ ...delivery, secrets }), delivery));
    background.push(rekeying({ ...delivery, secrets }));
  }
  if (settings !== null) background.push(new Dispatcher(operatorStream({ ...delivery, settings }), delivery));
  const stores = { reads: given.reads, writes: given.writes };
  return { handlers: { ...shared, ...stores, secrets, testCalls: new TestCalls() }, background };
}

/** Returns the rules for the addresses that the service may call, and the CAs that it trusts. */
export function receiverDepsOf(config: AuditConfig, clock: Clock): ReceiverDeps {
  const caFile = config.AUDIT_STREAM_CA_FILE;
  return {
    rules: targetRulesOf(config),
    clock,
    ...(caFile !== undefined && { ca: readFileSync(caFile, "utf8") }),
  };
}
