import { Registry } from "prom-client";
import type { StoreObserver } from "../stores/observer.ts";
import { metricsText } from "./metrics-text.ts";
import { addProcessMetrics, watchEventLoop } from "./process-metrics.ts";
import { type RequestMetrics, requestMetrics } from "./request-metrics.ts";
import { storeObserver } from "./store-metrics.ts";

/** The metrics that every service has (OP-49). */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: RequestMetrics;
  readonly observeStore: StoreObserver;
  /** Returns the Prometheus text format, or OpenMetrics with exemplars if the `accept` header allows it. */
  scrape(accept: string | null): Promise<{ readonly contentType: string; readonly text: string }>;
  stop(): void;
}

const ACCEPTS_OPEN_METRICS = /\bapplication\/openmetrics-text\b/;

export function createMetrics(): Metrics {
  const registry = new Registry();
  addProcessMetrics(registry);
  return {
    registry,
    requests: requestMetrics(registry),
    observeStore: storeObserver(registry),
    stop: watchEventLoop(registry),
    async scrape(accept) {
      const isOpenMetrics = accept !== null && ACCEPTS_OPEN_METRICS.test(accept);
      return {
        contentType: isOpenMetrics ? Registry.OPENMETRICS_CONTENT_TYPE : registry.contentType,
        text: await metricsText(registry, isOpenMetrics),
      };
    },
  };
}
