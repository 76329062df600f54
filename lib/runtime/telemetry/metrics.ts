import { Registry } from "prom-client";
import type { StoreObserver } from "../stores/observer.ts";
import { metricsText, OPEN_METRICS, PROMETHEUS } from "./metrics-text.ts";
import { addProcessMetrics, watchEventLoop } from "./process-metrics.ts";
import { type RequestMetrics, requestMetrics } from "./request-metrics.ts";
import { storeObserver } from "./store-metrics.ts";

/** The metrics that every service has (OP-49), in a registry that belongs to the service. */
export interface Metrics {
  /** The registry. A service adds its own metrics to it. */
  readonly registry: Registry;
  /** Updates the `http_request*` metrics. */
  readonly requests: RequestMetrics;
  /** Updates the `db_operation*` metrics. */
  readonly observeStore: StoreObserver;
  /**
   * Returns the response to a scrape, in the Prometheus text format. If the `accept` header allows OpenMetrics,
   * the response has that format and contains exemplars.
   */
  scrape(accept: string | null): Promise<{ readonly contentType: string; readonly text: string }>;
  /** Stops periodic measurements. */
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
        text: await metricsText(registry, isOpenMetrics ? OPEN_METRICS : PROMETHEUS),
      };
    },
  };
}
