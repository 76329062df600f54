import { Registry } from "prom-client";
import type { StoreObserver } from "../stores/observer.ts";
import { openMetricsText } from "./open-metrics.ts";
import { addProcessMetrics, watchEventLoop } from "./process-metrics.ts";
import { type RequestObserver, requestObserver } from "./request-metrics.ts";
import { storeObserver } from "./store-metrics.ts";

/** The metrics that every service has (Gateway specification, Emitted signals), in a registry of its own. */
export interface Metrics {
  /** A service adds its own metrics here. */
  readonly registry: Registry;
  /** Feeds the `http_request*` metrics. */
  readonly observeRequest: RequestObserver;
  /** Feeds the `db_operation*` metrics. */
  readonly observeStore: StoreObserver;
  /** Prometheus text format. */
  text(): Promise<string>;
  /** What a scrape is answered that accepts `accept`: OpenMetrics, with exemplars, for those that ask for it. */
  scrape(accept: string | null): Promise<Scrape>;
  /** Nothing is measured any more by itself. */
  stop(): void;
}

export interface Scrape {
  readonly content_type: string;
  readonly text: string;
}

const OPEN_METRICS = /\bapplication\/openmetrics-text\b/;

export function createMetrics(): Metrics {
  const registry = new Registry();
  addProcessMetrics(registry);
  return {
    registry,
    observeRequest: requestObserver([registry]),
    observeStore: storeObserver([registry]),
    stop: watchEventLoop(registry),
    text: () => registry.metrics(),
    async scrape(accept) {
      if (accept === null || !OPEN_METRICS.test(accept)) {
        return { content_type: registry.contentType, text: await registry.metrics() };
      }
      return { content_type: Registry.OPENMETRICS_CONTENT_TYPE, text: await openMetricsText(registry) };
    },
  };
}
