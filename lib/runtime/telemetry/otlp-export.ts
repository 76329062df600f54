import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { type ExportResult, ExportResultCode, parseKeyPairsIntoRecord } from "@opentelemetry/core";
import { CompressionAlgorithm } from "@opentelemetry/otlp-exporter-base";
import { defaultResource, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { type Clock, endsWithin, systemClock } from "../../async/index.ts";
import type { TelemetryConfig } from "../config/index.ts";
import { VERSION } from "../version.ts";
import type { Logger } from "./log.ts";
import type { ServiceIdentity } from "./otlp-target.ts";

/** The timeout of one export, including its retries. */
export const EXPORT_TIMEOUT_MS = 5_000;
/** The maximum time that a shutdown waits for a collector. */
const SHUTDOWN_TIMEOUT_MS = 3_000;
const WARNING_INTERVAL_MS = 60_000;

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

export function exporterOptions(config: TelemetryConfig, url: string) {
  const gzip = config.OTEL_EXPORTER_OTLP_COMPRESSION === "gzip";
  return {
    url,
    timeoutMillis: EXPORT_TIMEOUT_MS,
    headers: parseKeyPairsIntoRecord(config.OTEL_EXPORTER_OTLP_HEADERS),
    compression: gzip ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
    httpAgentOptions: {
      keepAlive: true,
      ca: contentOf(config.OTEL_EXPORTER_OTLP_CERTIFICATE),
      cert: contentOf(config.OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE),
      key: contentOf(config.OTEL_EXPORTER_OTLP_CLIENT_KEY),
    },
  };
}

function contentOf(file: string | undefined): Buffer | undefined {
  return file === undefined ? undefined : readFileSync(file);
}

/** Replicas and workers differ in `service.instance.id`. OTEL_RESOURCE_ATTRIBUTES cannot change the service's name. */
export function serviceResource(service: ServiceIdentity, config: TelemetryConfig): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      "service.version": VERSION,
      "service.instance.id": `${hostname()}:${process.pid}`,
      ...parseKeyPairsIntoRecord(config.OTEL_RESOURCE_ATTRIBUTES),
      "service.name": service.name,
      "service.namespace": service.namespace,
    }),
  );
}

/** Logs failed exports, at most once a minute: every export fails while a collector is down. Its data is lost. */
export function reportingFailures<Items>(
  exporter: Exporter<Items>,
  url: string,
  log: Logger,
  clock: Clock = systemClock,
): Exporter<Items> {
  const collector = new URL(url).origin;
  let failures = 0;
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  const report = (error: Error | undefined): void => {
    failures++;
    if (clock.elapsedMs() < quietUntilMs) return;
    quietUntilMs = clock.elapsedMs() + WARNING_INTERVAL_MS;
    log.warn({ collector, failures, error_message: error?.message }, "telemetry export failed");
    failures = 0;
  };
  return {
    export: (items, done) =>
      exporter.export(items, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) report(result.error);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Waits until the last export has finished, or until a timeout. */
export async function stopWithin(
  stop: Promise<void>,
  log: Logger,
  clock: Clock = systemClock,
): Promise<void> {
  if (await endsWithin(stop, SHUTDOWN_TIMEOUT_MS, clock)) return;
  log.warn(
    { timeout_ms: SHUTDOWN_TIMEOUT_MS },
    "the process stops without sending its last telemetry: the collector did not respond",
  );
}
