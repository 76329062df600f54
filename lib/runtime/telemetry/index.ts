export * from "./log.ts";
export * from "./metrics.ts";
export * from "./metrics-export.ts";
export * from "./otlp-export.ts";
export * from "./request-metrics.ts";
export * from "./telemetry.ts";
export * from "./trace-context.ts";
export * from "./tracing.ts";
