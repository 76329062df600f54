import { readFileSync } from "node:fs";
import type { Clock } from "@ostiary/lib/async";
import { listItems } from "@ostiary/lib/runtime/config";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import type { AuditConfig } from "../config.ts";
import { Dispatcher } from "./dispatcher.ts";
import type { StreamHandlersDeps } from "./handlers.ts";
import { StreamKeys } from "./key-file.ts";
import { createDeliveryMetrics, createStreamGauges } from "./metrics.ts";
import { SecretBox } from "./secrets.ts";
import { targetRules } from "./targets.ts";
import { TestCalls } from "./test-calls.ts";
import { StreamWatch } from "./watch.ts";

export interface StreamsGiven {
  reads: Database;
  writes: Database;
  clock: Clock;
  telemetry: Telemetry;
}

export interface Streams {
  handlers: StreamHandlersDeps;
  /** Null without a key for secrets, because nothing can be signed. */
  dispatcher: Dispatcher | null;
  watch: StreamWatch;
}

/** Builds the parts of streams from the configuration. */
export async function wireStreams(config: AuditConfig, given: StreamsGiven): Promise<Streams> {
  const { reads, writes, clock, telemetry } = given;
  const { log } = telemetry;
  const key_file = config.AUDIT_STREAM_KEY_FILE;
  const ca_file = config.AUDIT_STREAM_CA_FILE;
  const rules = targetRules({
    allow_http: config.AUDIT_STREAM_ALLOW_HTTP,
    ports: listItems(config.AUDIT_STREAM_ALLOWED_PORTS ?? ""),
    networks: listItems(config.AUDIT_STREAM_ALLOWED_NETWORKS ?? ""),
  });
  const receivers = { rules, clock, ...(ca_file !== undefined && { ca: readFileSync(ca_file, "utf8") }) };
  const shared = { reads, writes, clock, receivers };
  const secrets = key_file === undefined ? null : new SecretBox(await StreamKeys.open(key_file, clock, log));
  const metrics = createDeliveryMetrics(telemetry.metrics);
  const watch = new StreamWatch({ reads, clock, log });
  createStreamGauges(telemetry.metrics, () => watch.readings);
  return {
    handlers: { ...shared, secrets, testCalls: new TestCalls() },
    dispatcher: secrets === null ? null : new Dispatcher({ ...shared, secrets, log, metrics }),
    watch,
  };
}
