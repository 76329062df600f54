import { randomUUID } from "node:crypto";
import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { collectedGauge, type Logger, type Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter } from "prom-client";
import { LogSetBack, SignedRoots } from "../root/signed-root.ts";
import { type LogKeys, verifierKeys } from "../root/signing-keys.ts";
import { TreeAltered } from "./altered-chains.ts";
import type { PassDeps } from "./pass-deps.ts";
import { newMemory } from "./read-pass.ts";
import { recheckAltered } from "./recheck.ts";
import { sealPass } from "./seal-pass.ts";
import type { SealerState } from "./state-sql.ts";

interface SealerDeps {
  reads: Database;
  writes: Database;
  /** The keys that sign the roots of the tree, or null for none. */
  keys: LogKeys | null;
  origin: string;
  intervalMs: number;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

/** Another replica replaces a sealer that writes nothing for its interval plus this time. */
const SILENCE_MS = 2_000;
const RETRY_MS = 500;
/** Pause between two rechecks of chains that were left out. */
const RECHECK_MS = 5_000;

/**
 * Seals the log in the background (AU-53, AU-55). The replica that wrote last continues. Another replica takes over
 * from a replica that writes nothing for too long, because that replica died, hangs or has nothing to do. If two
 * replicas seal the same events, the database lets only the faster one write.
 */
export class Sealer {
  readonly #deps: SealerDeps;
  readonly #pass: PassDeps;
  readonly #loop: Loop;
  readonly #entries: Counter;
  /** Everything committed before this time of the monotonic clock is sealed. */
  #sealedThroughMs: number;
  #alteredLogs = 0;
  #isSetBack = false;
  #recheckAtMs = 0;
  /** The current rechecks of left-out chains, or null. */
  #rechecks: ReturnType<typeof recheckAltered> | null = null;
  #isSealing = false;

  constructor(deps: SealerDeps) {
    this.#deps = deps;
    const { clock, intervalMs, metrics, log, keys, origin } = deps;
    this.#pass = { ...deps, memory: newMemory(new SignedRoots(keys, origin)), holder: randomUUID() };
    this.#sealedThroughMs = clock.elapsedMs();
    const { registry } = metrics;
    const registers = [registry];
    this.#entries = new Counter({
      name: "audit_sealed_entries_total",
      help: "Entries that this replica has sealed: one for each intent and each outcome in each log.",
      registers,
    });
    const failures = new Counter({
      name: "audit_seal_failures_total",
      help: "Failed passes of this replica's sealer; each is tried again.",
      registers,
    });
    collectedGauge(registry, {
      name: "audit_seal_lag_seconds",
      help: "How long the oldest event that is not sealed has waited.",
      read: () => (clock.elapsedMs() - this.#sealedThroughMs) / 1_000,
    });
    collectedGauge(registry, {
      name: "audit_database_set_back",
      help: "1 while the database lacks the root that this replica signed or read last, so that it seals nothing.",
      read: () => Number(this.#isSetBack),
    });
    collectedGauge(registry, {
      name: "audit_altered_logs",
      help: "Logs that the sealer leaves out, because their rows are not what was sealed.",
      read: () => this.#alteredLogs,
    });
    this.#loop = new Loop({
      task: (stopping) => this.seal(stopping),
      // half of the interval, because a pass takes time too
      pauseMs: intervalMs / 2,
      retryMs: RETRY_MS,
      onFailure: (err, retry_in_ms) => {
        failures.inc();
        this.#isSetBack = err instanceof LogSetBack;
        if (this.#isSetBack) log.error({ err, retry_in_ms }, "the audit database was set back");
        else if (err instanceof TreeAltered)
          log.error({ err, retry_in_ms }, "the signed tree of the audit log was altered: nothing is sealed");
        else log.warn({ err, retry_in_ms }, "sealing the audit log failed and will be tried again");
      },
      clock,
    });
  }

  start(): void {
    const { keys, log } = this.#deps;
    if (keys === null) {
      log.warn(
        {},
        "the audit log is not signed: AUDIT_SIGNING_KEY_FILE is not set, so no export can be verified as complete and /audit-log/ is not served",
      );
    } else {
      log.info({ keys: verifierKeys(keys) }, "the audit log is signed by these keys");
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
    const { clock } = this.#deps;
    while (!stopping()) {
      const startedMs = clock.elapsedMs();
      const { state, entries, end } = await sealPass(this.#pass, { isMine: (read) => !this.#isOthers(read) });
      this.#isSetBack = false;
      this.#alteredLogs = state.altered.length;
      this.#isSealing = end !== "others";
      this.#entries.inc(entries);
      if (end === "behind") continue;
      if (end !== "done") return;
      this.#sealedThroughMs = startedMs;
      if (this.#rechecks === null) {
        if (startedMs < this.#recheckAtMs) return;
        this.#recheckAtMs = startedMs + RECHECK_MS;
        this.#rechecks = recheckAltered(this.#pass, state);
      }
      if (!(await this.#rechecks.next()).done) continue;
      this.#rechecks = null;
      return;
    }
  }

  /**
   * Returns whether another replica seals. A pass that appears to be in the future, because the database's clock
   * was set back, does not count (AU-176).
   */
  #isOthers({ holder, idle_ms }: SealerState): boolean {
    const { clock, intervalMs } = this.#deps;
    const isSilent = idle_ms < 0 || idle_ms > intervalMs + SILENCE_MS;
    if (holder === null || holder === this.#pass.holder || isSilent) return false;
    this.#sealedThroughMs = Math.max(this.#sealedThroughMs, clock.elapsedMs() - idle_ms);
    return true;
  }
}
