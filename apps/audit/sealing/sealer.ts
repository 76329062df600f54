import { randomUUID } from "node:crypto";
import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger, Metrics } from "@ostiary/lib/runtime/telemetry";
import type { SigningKey } from "../signing-key/key-file.ts";
import { createSealMetrics, type SealMetrics } from "./metrics.ts";
import { recoverPass } from "./recovery.ts";
import { type PassDeps, sealPass } from "./seal-pass.ts";
import { LogAltered, SealedState } from "./sealed-state.ts";
import { type SealerState, selectState } from "./sealer-state-sql.ts";

interface SealerDeps {
  reads: Database;
  writes: Database;
  /** The key that signs checkpoints. Without a key, checkpoints stay unsigned. */
  key: SigningKey | null;
  /** The name of the log in signed roots of its tree. */
  origin: string;
  intervalMs: number;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

/** Another replica replaces a sealer that writes nothing for its interval plus this time. */
const SILENCE_MS = 2_000;
const RETRY_MS = 500;
/** Pause between two searches for an altered chain that is restored. */
const RECOVER_MS = 5_000;

/**
 * Seals the log in the background (AU-53, AU-55). The replica that wrote last continues. Another replica takes over
 * from a replica that writes nothing for too long, because that replica died, hangs or has nothing to do. If two
 * replicas seal the same events, the database lets only the faster one write.
 */
export class Sealer {
  readonly #deps: SealerDeps;
  readonly #loop: Loop;
  readonly #metrics: SealMetrics;
  readonly #sealed: SealedState;
  readonly #holder = randomUUID();
  /** Everything committed before this time of the monotonic clock is sealed. */
  #sealedThroughMs: number;
  #alteredLogs = 0;
  #recoverAtMs = 0;
  #isSealing = false;

  constructor(deps: SealerDeps) {
    this.#deps = deps;
    const { clock, intervalMs, metrics, log, writes } = deps;
    this.#sealedThroughMs = clock.elapsedMs();
    this.#sealed = new SealedState(writes);
    this.#metrics = createSealMetrics(metrics, {
      lagMs: () => clock.elapsedMs() - this.#sealedThroughMs,
      alteredLogs: () => this.#alteredLogs,
    });
    this.#loop = new Loop({
      task: (stopping) => this.seal(stopping),
      // half of the interval, because a pass takes time too
      pauseMs: intervalMs / 2,
      retryMs: RETRY_MS,
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
        "audit checkpoints are not signed: AUDIT_SIGNING_KEY_FILE is not set, so only kept copies of checkpoints prove anything",
      );
    }
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  /**
   * Whether this replica seals. Can briefly be true for two replicas, and is true for all replicas while no
   * pass is written.
   */
  get isSealing(): boolean {
    return this.#isSealing;
  }

  /** Seals everything that is committed, unless another replica does so. */
  async seal(stopping: () => boolean = () => false): Promise<void> {
    const { clock, writes } = this.#deps;
    while (!stopping()) {
      const startedMs = clock.elapsedMs();
      const state = await selectState(writes);
      this.#alteredLogs = state.set_aside.length;
      this.#noteSetBack(state);
      this.#isSealing = !this.#isOthers(state);
      if (!this.#isSealing) return;
      const deps = { ...this.#deps, sealed: this.#sealed, holder: this.#holder };
      const { entries, end } = await sealPass(deps, state);
      this.#metrics.sealed(entries);
      if (end === "done") this.#sealedThroughMs = startedMs;
      if (end === "behind") continue;
      if (end === "lost") return;
      if (state.set_aside.length === 0 || !(await this.#recover(deps))) return;
    }
  }

  /**
   * Continues to seal a restored chain, except for {@link RECOVER_MS} after a search that found none. Returns whether
   * more events of the chain wait.
   */
  async #recover(deps: PassDeps): Promise<boolean> {
    const nowMs = deps.clock.elapsedMs();
    if (nowMs < this.#recoverAtMs) return false;
    const recovered = await recoverPass(deps, await selectState(deps.writes));
    this.#metrics.sealed(recovered?.entries ?? 0);
    if (recovered === null) this.#recoverAtMs = nowMs + RECOVER_MS;
    return recovered?.end === "behind";
  }

  #noteSetBack({ checkpoint }: SealerState): void {
    const from = this.#sealed.lastWrites.setBackFrom(checkpoint);
    if (from === null) return;
    this.#metrics.setBack();
    const fields = { from, to: checkpoint?.number ?? 0 };
    this.#deps.log.error(fields, "the audit database was set back to before a signed checkpoint");
  }

  /**
   * Returns whether another replica seals. A pass that appears to be in the future, because the database's clock
   * was set back, does not count (AU-176).
   */
  #isOthers({ holder, idle_ms }: SealerState): boolean {
    const { clock, intervalMs } = this.#deps;
    const isSilent = idle_ms < 0 || idle_ms > intervalMs + SILENCE_MS;
    if (holder === null || holder === this.#holder || isSilent) return false;
    this.#sealedThroughMs = Math.max(this.#sealedThroughMs, clock.elapsedMs() - idle_ms);
    return true;
  }
}
