import { type Clock, endsWithin, Loop } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { type NoteKey, readRoot } from "@ostiary/lib/domain/tlog";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { collectedGauge, type Logger, type Metrics } from "@ostiary/lib/runtime/telemetry";
import { Receiver, type ReceiverDeps } from "../../receivers/receiver-call.ts";
import type { CosignedRoots } from "../export/proof.ts";
import { signersOf } from "../root/signing-keys.ts";
import { selectConsistency, selectNote, sizeOf } from "../root/tree-sql.ts";
import { askWitness, WitnessConflict } from "./ask-witness.ts";
import {
  type Cosignature,
  deleteOldCosignatures,
  insertCosignature,
  type SignedRoot,
  selectCosignedRoot,
} from "./witness-sql.ts";
import type { Witness } from "./witnesses-file.ts";

interface WitnessingDeps {
  witnesses: readonly Witness[];
  quorum: number;
  intervalMs: number;
  origin: string;
  /** The keys of the log. */
  keys: readonly NoteKey[];
  /** Whether this replica seals. Only that replica asks the witnesses. */
  isSealing: () => boolean;
  reads: Database;
  writes: Database;
  receivers: ReceiverDeps;
  clock: Clock;
  log: Pick<Logger, "error" | "warn">;
  metrics: Metrics;
}

/** The longest time that an export waits for the next round of the witnesses, even if the interval is longer. */
const INTERVAL_WAIT_MS_MAX = 10_000;
/** The additional time that an export waits for the responses of the witnesses. */
const RESPONSE_WAIT_MS = 2_000;
const BEHIND_MS = 60_000;
const RETRY_MS_MAX = 300_000;
/**
 * The maximum number of calls to a witness for one root. A call with an outdated size is repeated with the
 * size that the witness names.
 */
const CALLS_MAX = 3;
/** The maximum size of a response. A witness may respond with the lines of many keys. */
const RESPONSE_BYTES_MAX = 65_536;

/** The state of a witness, as far as this replica has learned it. */
interface Known {
  witness: Witness;
  receiver: Receiver;
  /** The last size that the witness is known to have cosigned. Proofs start at this size. */
  size: number;
  /** The size of the root whose cosignature was stored last, or null. */
  stored: number | null;
  failures: number;
  /** The time of the monotonic clock at which the backoff ends. */
  notBeforeMs: number;
  /** The time of the monotonic clock since which a cosignature is missing, or null. */
  owesSinceMs: number | null;
  hasConflict: boolean;
  /** Resolves when the call in flight ends; null if there is none. */
  asked: Promise<void> | null;
}

/**
 * Asks the witnesses to cosign the newest root of the tree, in the background (AU-171). All witnesses get the same
 * root. A witness that fails is asked again after a backoff, and does not delay the other witnesses.
 */
export class Witnessing implements CosignedRoots {
  readonly #deps: WitnessingDeps;
  readonly #loop: Loop;
  readonly #known: readonly Known[];
  readonly #stopping = new AbortController();
  readonly waitMsMax: number;

  constructor(deps: WitnessingDeps) {
    this.#deps = deps;
    const { intervalMs, clock, log } = deps;
    this.waitMsMax = Math.min(intervalMs, INTERVAL_WAIT_MS_MAX) + RESPONSE_WAIT_MS;
    this.#known = deps.witnesses.map((witness) => ({
      witness,
      receiver: new Receiver(`${witness.url}/add-checkpoint`, {
        ...deps.receivers,
        responseBytesMax: RESPONSE_BYTES_MAX,
      }),
      size: 0,
      stored: null,
      owesSinceMs: null,
      asked: null,
      failures: 0,
      notBeforeMs: 0,
      hasConflict: false,
    }));
    const count = (is: (known: Known) => boolean) => (deps.isSealing() ? this.#known.filter(is).length : 0);
    collectedGauge(deps.metrics.registry, {
      name: "audit_witnesses_behind",
      help: "Witnesses that have cosigned no root for a minute although a new root exists. Only the replica that seals counts them.",
      read: () =>
        count(({ owesSinceMs }) => owesSinceMs !== null && clock.elapsedMs() - owesSinceMs > BEHIND_MS),
    });
    collectedGauge(deps.metrics.registry, {
      name: "audit_witness_conflicts",
      help: "Witnesses that say that the log does not continue what they cosigned. Only the replica that seals counts them.",
      read: () => count(({ hasConflict }) => hasConflict),
    });
    this.#loop = new Loop({
      task: () => this.#round(),
      pauseMs: intervalMs,
      retryMs: intervalMs,
      onFailure: (err, retry_in_ms) =>
        log.warn({ err, retry_in_ms }, "the audit service could not ask witnesses and will try again"),
      clock,
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Stops the loop and aborts calls in flight, which the next start repeats. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
    await Promise.all(this.#known.map(({ asked }) => asked));
    for (const { receiver } of this.#known) receiver.close();
  }

  /** Ignores a root that none of the log's keys signed: readers who know the present keys would refuse it. */
  async select(): ReturnType<CosignedRoots["select"]> {
    const { reads, origin, keys, witnesses, quorum } = this.#deps;
    const known = witnesses.map(({ keyText }) => keyText);
    const root = await selectCosignedRoot(reads, origin, known, quorum);
    return root !== null && (await signersOf(root.note, keys)).length > 0 ? root : null;
  }

  async #round(): Promise<void> {
    const { reads, writes, intervalMs, origin, clock, isSealing } = this.#deps;
    if (!isSealing() || this.#stopping.signal.aborted) return;
    const note = await selectNote(reads);
    // a restart began a tree of another name, which another process seals
    if (note === null || readRoot(note)?.head.origin !== origin) return;
    const root = { size: sizeOf(note), note };
    const nowMs = clock.elapsedMs();
    const owing = this.#known.filter(({ stored }) => stored !== root.size);
    for (const known of owing) known.owesSinceMs ??= nowMs;
    const due = owing.filter(({ notBeforeMs, asked }) => asked === null && notBeforeMs <= nowMs);
    if (due.length === 0) return;
    // waits no longer than the interval: a witness that has not responded must not delay the next round
    await endsWithin(Promise.all(due.map((known) => this.#start(known, root))), intervalMs, clock);
    await deleteOldCosignatures(writes, origin, (await this.select())?.size ?? 0);
  }

  /** Asks one witness in the background, and logs its failure. */
  #start(known: Known, root: SignedRoot): Promise<void> {
    known.asked = this.#cosigned(known, root)
      .then((cosignature) => insertCosignature(this.#deps.writes, cosignature))
      .then(() => {
        const { size } = root;
        Object.assign(known, { size, stored: size, failures: 0, owesSinceMs: null, hasConflict: false });
      })
      .catch((error) => this.#noteFailure(known, error))
      .finally(() => {
        known.asked = null;
      });
    return known.asked;
  }

  /** Sends the root, with the proof from the size that the witness cosigned last. */
  async #cosigned(known: Known, root: SignedRoot): Promise<Cosignature> {
    const { reads, writes, clock } = this.#deps;
    const { receiver, witness } = known;
    const { signal } = this.#stopping;
    for (let calls = 1; calls <= CALLS_MAX; calls++) {
      const oldSize = known.size;
      if (oldSize > root.size) {
        // makes the next round ask the witness for its size
        known.size = 0;
        const newest = sizeOf(await selectNote(writes));
        if (newest >= oldSize) throw new Error("The witness has a newer root already.");
        throw new WitnessConflict(`the witness cosigned size ${oldSize}, and the log has ${newest} leaves`);
      }
      const path = await selectConsistency(reads, oldSize, root.size);
      if (path === null) throw new Error(`The log lacks hashes of the proof from size ${oldSize}.`);
      const given = { receiver, witness, nowMs: clock.now(), signal };
      const result = await askWitness(given, root, { oldSize, path });
      if (typeof result === "object") return result;
      known.size = result;
    }
    throw new Error("The witness named another size each time.");
  }

  #noteFailure(known: Known, error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    const { clock, intervalMs, log } = this.#deps;
    const hasConflict = error instanceof WitnessConflict;
    const retry_in_ms = Math.min(intervalMs * 2 ** Math.min(known.failures, 16), RETRY_MS_MAX);
    const about = { witness: known.witness.name, reason: reasonOf(error), retry_in_ms };
    if (hasConflict && !known.hasConflict) {
      log.error(about, "a witness says that the audit log does not continue what the witness cosigned");
    } else if (!hasConflict && known.failures === 0) {
      log.warn(about, "a witness did not cosign the audit log and will be asked again");
    }
    known.failures += 1;
    known.hasConflict = hasConflict;
    known.notBeforeMs = clock.elapsedMs() + retry_in_ms;
  }
}
