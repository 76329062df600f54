import { KeyedSemaphore } from "@ostiary/lib/async";
import type { AuditConfig } from "../config.ts";
import { receiverDepsOf } from "../receivers/receiver-call.ts";
import type { WireDeps } from "../wire-deps.ts";
import { Dispatcher } from "./dispatcher.ts";
import { operatorStreamOf } from "./operator/config.ts";
import { operatorStream } from "./operator/stream.ts";
import { organizationStreams } from "./organization-streams.ts";
import { rekeying } from "./rekey-job.ts";
import { SecretBox } from "./secrets.ts";
import { watchStreams } from "./status-readings.ts";
import type { StreamHandlersDeps } from "./stream-handlers.ts";
import { createDeliveryMetrics } from "./stream-metrics.ts";

/**
 * The maximum number of test requests of one organization that run at once in one process. An organization with slow
 * receivers takes no capacity of another organization.
 */
const TEST_CALLS_MAX = 2;

/** A task that runs beside the requests. */
export interface Background {
  start(): void | Promise<void>;
  stop(): Promise<void>;
}

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
export function wireStreams(config: AuditConfig, given: WireDeps, { reads, writes }: WireDeps): StreamParts {
  const { clock, telemetry } = given;
  const { log } = telemetry;
  const keyFile = config.AUDIT_STREAM_KEY_FILE;
  const receivers = receiverDepsOf(config, clock);
  const shared = { reads, writes, clock, receivers };
  const secrets = keyFile === undefined ? null : new SecretBox(keyFile, clock, log);
  const settings = operatorStreamOf(config);
  const delivery = { ...shared, log, metrics: createDeliveryMetrics(telemetry.metrics) };
  const hasOperatorStream = settings !== null;
  const background: Background[] = [
    watchStreams({ reads, clock, log, metrics: telemetry.metrics, hasOperatorStream }),
  ];
  if (secrets !== null) {
    background.push(new Dispatcher(organizationStreams({ ...delivery, secrets }), delivery));
    background.push(rekeying({ ...delivery, secrets }));
  }
  if (settings !== null) background.push(new Dispatcher(operatorStream({ ...delivery, settings }), delivery));
  const stores = { reads: given.reads, writes: given.writes };
  const testCalls = new KeyedSemaphore(TEST_CALLS_MAX, 0);
  return { handlers: { ...shared, ...stores, secrets, testCalls }, background };
}
