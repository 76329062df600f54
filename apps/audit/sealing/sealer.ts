import { randomUUID } from "node:crypto";
import { type Clock, Loop } from "@ostiary/lib/async";
import type { CheckpointKey } from "@ostiary/lib/domain/proof";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger, Metrics } from "@ostiary/lib/runtime/telemetry";
import { sealPass } from "./commands.ts";
import { createSealMetrics, type SealMetrics } from "./metrics.ts";
import { type SealerState, selectState } from "./queries.ts";
import { LogAltered, SealedState } from "./trust.ts";

export interface SealerDeps {
  reads: Database;
  writes: Database;
  /** Signs checkpoints; null leaves them unsigned. */
  key: CheckpointKey | null;
  interval_ms: number;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

/** Longer than this beyond its interval a sealer that writes nothing is not waited for. */
const SILENCE_MS = 2_000;
const RETRY_MS = 500;

/**
 * Seals the log in the background (contract 6, Proof). Of all replicas the one that wrote last goes on, and the
 * others begin when it has been silent for too long, whether it has died, hangs or had nothing to do: that two of
 * them never seal the same is the database's to see to, which lets the quicker one write alone.
 */
export class Sealer {
  readonly #deps: SealerDeps;
  readonly #loop: Loop;
  readonly #metrics: SealMetrics;
  readonly #sealed: SealedState;
  readonly #holder = randomUUID();
  /** By the clock for durations: what was committed before is sealed. */
  #sealedThrough_ms: number;

  constructor(deps: SealerDeps) {
    this.#deps = deps;
    const { clock, interval_ms, metrics, log, writes } = deps;
    this.#sealedThrough_ms = clock.elapsed_ms();
    this.#sealed = new SealedState(writes);
    this.#metrics = createSealMetrics(metrics, () => clock.elapsed_ms() - this.#sealedThrough_ms);
    this.#loop = new Loop({
      task: (stopping) => this.seal(stopping),
      // half of it, since a pass takes time too
      pause_ms: interval_ms / 2,
      retry_ms: RETRY_MS,
      onFailure: (err, retry_in_ms) => {
        this.#metrics.failed();
        if (err instanceof LogAltered) log.error({ err, retry_in_ms }, "the audit log was altered");
        else log.warn({ err, retry_in_ms }, "sealing the audit log failed and will be tried again");
      },
      clock,
    });
  }

  start(): void {
    if (this.#deps.key === null) {
      this.#deps.log.warn(
        {},
        "audit checkpoints are not signed: AUDIT_SIGNING_KEY_FILE is not set, so only kept copies of them prove anything",
      );
    }
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  /** Seals everything that is committed by now, unless another replica is at it. */
  async seal(stopping: () => boolean = () => false): Promise<void> {
    const { clock, writes } = this.#deps;
    while (!stopping()) {
      const started_ms = clock.elapsed_ms();
      const state = await selectState(writes);
      if (this.#isOthers(state)) return;
      const { entries, end } = await sealPass(
        { ...this.#deps, sealed: this.#sealed, holder: this.#holder },
        state,
      );
      this.#metrics.sealed(entries);
      if (end === "done") this.#sealedThrough_ms = started_ms;
      if (end !== "behind") return;
    }
  }

  #isOthers({ holder, idle_ms, older }: SealerState): boolean {
    const { clock, interval_ms } = this.#deps;
    if (holder === null || holder === this.#holder || idle_ms > interval_ms + SILENCE_MS) return false;
    if (older === null)
      this.#sealedThrough_ms = Math.max(this.#sealedThrough_ms, clock.elapsed_ms() - idle_ms);
    return true;
  }
}
