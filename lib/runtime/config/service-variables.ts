import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import type { ConfigProblem } from "./load.ts";
import {
  flag,
  host,
  integer,
  keyPairs,
  optionalHttpUrl,
  optionalText,
  port,
  readableFile,
  textOr,
} from "./variables.ts";

/** The variables for listening, shutdown and telemetry that all services have (OP-1). */
export function listenVariables(defaults: { host: string; port: number; internal_port: number }) {
  return {
    HOST: host(defaults.host),
    PORT: port(defaults.port, "The port that clients call."),
    INTERNAL_PORT: port(
      defaults.internal_port,
      "The port for health probes, metrics and calls of other services.",
    ),
    ...shutdownVariables,
    ...telemetryVariables,
  };
}

export const shutdownVariables = {
  SHUTDOWN_GRACE_MS: integer(
    { default: 0, min: 0, max: 600_000 },
    "How long the service accepts requests after a stop signal.",
  ),
  SHUTDOWN_TIMEOUT_MS: integer(
    { default: 25_000, min: 0, max: 600_000 },
    "How long requests in flight may run after SHUTDOWN_GRACE_MS, before the service aborts them.",
  ),
};

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** The environment variables for logs and for OpenTelemetry export (OP-36, OP-52). */
export const telemetryVariables = {
  LOG_LEVEL: Type.Union(
    [Type.Literal("debug"), Type.Literal("info"), Type.Literal("warn"), Type.Literal("error")],
    {
      default: "info",
      rule: "must be debug, info, warn or error",
      description: "The lowest level that is logged. The signal SIGUSR2 switches to debug and back.",
    },
  ),
  LOG_FILE: optionalText("must be a file that this user may append to, or - for standard output", {
    check: isAppendableFile,
    description: "The file for log lines; standard output by default.",
  }),
  LOG_ACCESS_SAMPLE: textOr("1", "must be a number from 0 to 1", {
    check: isRatio,
    description: "The share of requests with a status below 400 that get a log line. All others get one.",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalHttpUrl(
    "The base URL of the collector to which traces and metrics are exported by OTLP over HTTP (protobuf).",
  ),
  OTEL_TRACES_EXPORTER: exporter("none turns off the export of traces."),
  OTEL_METRICS_EXPORTER: exporter("none turns off the export of metrics. Prometheus can still scrape them."),
  OTEL_SDK_DISABLED: flag(false, "true turns off the export of traces and metrics."),
  OTEL_TRACES_SAMPLER: Type.Union(
    SAMPLERS.map((name) => Type.Literal(name)),
    {
      default: "parentbased_always_on",
      rule: `must be ${SAMPLERS.slice(0, -1).join(", ")} or ${SAMPLERS.at(-1)}`,
      description: "The sampler, which decides which traces the process records.",
    },
  ),
  OTEL_TRACES_SAMPLER_ARG: optionalText("must be a number from 0 to 1", {
    check: isRatio,
    description: "The share of traces that a traceidratio sampler keeps; 1 by default.",
  }),
  OTEL_RESOURCE_ATTRIBUTES: keyPairs(
    "Attributes of all exported traces and metrics. They cannot change service.name and service.namespace.",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: keyPairs("Headers of the calls to the collector, such as its credentials."),
  OTEL_EXPORTER_OTLP_COMPRESSION: Type.Union([Type.Literal("none"), Type.Literal("gzip")], {
    default: "none",
    rule: "must be none or gzip",
    description: "The compression of requests to the collector.",
  }),
  OTEL_EXPORTER_OTLP_CERTIFICATE: readableFile("Certificates (PEM) of the CAs to trust for the collector."),
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: readableFile("The client certificate (PEM) for the collector."),
  OTEL_EXPORTER_OTLP_CLIENT_KEY: readableFile("The private key (PEM) of the client certificate."),
};

/** Returns whether the file can be created or appended to. `-` stands for standard output. */
function isAppendableFile(path: string): boolean {
  if (path === "-") return true;
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return false;
    accessSync(found ? path : dirname(path), constants.W_OK);
    return found !== undefined || !path.endsWith("/");
  } catch {
    return false;
  }
}

function isRatio(value: string): boolean {
  return /^(?:0|1|0?\.\d+|[01]\.\d*)$/.test(value) && Number(value) <= 1;
}

function exporter(description: string) {
  return Type.Union([Type.Literal("otlp"), Type.Literal("none")], {
    default: "otlp",
    rule: "must be otlp or none",
    description,
  });
}

/** A separately started app needs a route store that other processes can reach. */
export function checkSharedRouteStore({ ROUTE_STORE_URL }: { ROUTE_STORE_URL?: string }): ConfigProblem[] {
  if (ROUTE_STORE_URL !== "memory://") return [];
  const message =
    "is memory://, which no other process can read: set the URL of etcd, or start the platform app.";
  return [{ variable: "ROUTE_STORE_URL", message }];
}

const listenSchema = Type.Object(listenVariables({ host: "0.0.0.0", port: 0, internal_port: 0 }));
const telemetrySchema = Type.Object(telemetryVariables);

export type ListenConfig = Static<typeof listenSchema>;
export type TelemetryConfig = Static<typeof telemetrySchema>;
