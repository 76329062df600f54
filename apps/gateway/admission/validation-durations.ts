import { DurationHistogram, type DurationSeries, type Metrics } from "@ostiary/lib/runtime/telemetry";

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export type ValidationKind = "credential" | "person";
/** The result of a validation call; `failed` means that identity sent no valid response. */
export type ValidationEnd = "valid" | "invalid" | "failed";

const KINDS = ["credential", "person"] as const;
const ENDS = ["valid", "invalid", "failed"] as const;

export class ValidationDurations {
  readonly #series = new Map<string, DurationSeries>();

  constructor(registry: Metrics["registry"]) {
    const histogram = new DurationHistogram({
      name: "gateway_validation_duration_seconds",
      help: "Duration of validation calls to identity, by kind (credential, person) and result (valid, invalid, failed).",
      buckets: BUCKETS_SECONDS,
      registers: [registry],
    });
    for (const kind of KINDS) {
      for (const result of ENDS) this.#series.set(kind + result, histogram.series({ kind, result }));
    }
  }

  observe(kind: ValidationKind, result: ValidationEnd, seconds: number): void {
    this.#series.get(kind + result)?.observe(seconds);
  }
}
