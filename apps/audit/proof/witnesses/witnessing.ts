import { type Clock, endsWithin, Loop } from "@ostiary/lib/async";
import { readRoot } from "@ostiary/lib/domain/tlog";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { Receiver, type ReceiverDeps } from "../../streams/receiver-call.ts";
import { selectConsistency, selectNote } from "../root/tree-sql.ts";
import { type Exchange, exchange, type SignedRoot } from "./ask-witness.ts";
import { deleteOldCosignatures, insertCosignature, selectCosignedRoot } from "./sql.ts";
import type { Witness } from "./witnesses-file.ts";

interface WitnessingDeps {
  witnesses: readonly Witness[];
  quorum: number;
  intervalMs: number;
  origin: string;
  /** Whether this replica seals. Only that replica asks the witnesses. */
  isSealing: () => boolean;
  reads: Database;
  writes: Database;
  receivers: ReceiverDeps;
  clock: Clock;
  log: Pick<Logger, "error" | "warn">;
}

export interface WitnessReading {
  /** Number of witnesses that have cosigned no root for a minute although a new root exists. */
  behind: number;
  /** Number of witnesses that have cosigned something that contradicts this log. */
  conflicts: number;
}

/**
 * The final result of asking a witness for a cosignature. If the witness named another size, the call was repeated
 * with that size.
 */
type Asked = Exclude<Exchange, { outcome: "other_size" }>;

const BEHIND_MS = 60_000;
const RETRY_MS_MAX = 300_000;
/**
 * The maximum number of calls to a witness for one root. A call with an outdated size is repeated with the
 * size that the witness names.
 */
const CALLS_MAX = 3;
/** The maximum size of a response. A witness may answer with the lines of many keys. */
const ANSWER_BYTES_MAX = 65_536;

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
export class Witnessing {
  readonly #deps: WitnessingDeps;
  readonly #loop: Loop;
  readonly #known: readonly Known[];
  readonly #stopping = new AbortController();

  constructor(deps: WitnessingDeps) {
    this.#deps = deps;
    const { intervalMs, clock, log } = deps;
    this.#known = deps.witnesses.map((witness) => ({
      witness,
      receiver: new Receiver(`${witness.url}/add-checkpoint`, {
        ...deps.receivers,
        answerBytesMax: ANSWER_BYTES_MAX,
      }),
      ...{ size: 0, stored: null, owesSinceMs: null, asked: null },
      ...{ failures: 0, notBeforeMs: 0, hasConflict: false },
    }));
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

  /** Returns the state of the witnesses as this replica knows it. A replica that does not seal reports zeros. */
  get reading(): WitnessReading {
    const nowMs = this.#deps.clock.elapsedMs();
    const asked = this.#deps.isSealing() ? this.#known : [];
    return {
      behind: asked.filter(({ owesSinceMs }) => owesSinceMs !== null && nowMs - owesSinceMs > BEHIND_MS)
        .length,
      conflicts: asked.filter(({ hasConflict }) => hasConflict).length,
    };
  }

  async #round(): Promise<void> {
    const { reads, writes, witnesses, quorum, intervalMs, origin, clock, isSealing } = this.#deps;
    if (!isSealing() || this.#stopping.signal.aborted) return;
    const root = signedRootOf(await selectNote(reads));
    if (root === null) return;
    const nowMs = clock.elapsedMs();
    const owing = this.#known.filter(({ stored }) => stored !== root.size);
    for (const known of owing) known.owesSinceMs ??= nowMs;
    const due = owing.filter(({ notBeforeMs, asked }) => asked === null && notBeforeMs <= nowMs);
    if (due.length === 0) return;
    // waits no longer than the interval: a witness that has not answered must not delay the next round
    await endsWithin(Promise.all(due.map((known) => this.#start(known, root))), intervalMs, clock);
    const keys = witnesses.map(({ keyText }) => keyText);
    const newest = await selectCosignedRoot(reads, origin, keys, quorum);
    await deleteOldCosignatures(writes, origin, newest?.size ?? 0);
  }

  /** Asks one witness in the background, and logs a failure of the database. */
  #start(known: Known, root: SignedRoot): Promise<void> {
    known.asked = this.#ask(known, root)
      .catch((err) =>
        this.#deps.log.warn({ err }, "the audit service could not store what a witness answered"),
      )
      .finally(() => {
        known.asked = null;
      });
    return known.asked;
  }

  async #ask(known: Known, root: SignedRoot): Promise<void> {
    const result = await this.#cosigned(known, root);
    if (result.outcome === "cosigned") {
      await insertCosignature(this.#deps.writes, result.cosignature);
      const { size } = root;
      Object.assign(known, { size, stored: size, failures: 0, owesSinceMs: null, hasConflict: false });
    } else if (result.outcome !== "aborted") {
      this.#noteFailure(known, result);
    }
  }

  /** Sends the root, with the proof from the size that the witness cosigned last. */
  async #cosigned(known: Known, root: SignedRoot): Promise<Asked> {
    const { reads, clock } = this.#deps;
    const { receiver, witness } = known;
    const { signal } = this.#stopping;
    for (let calls = 1; calls <= CALLS_MAX; calls++) {
      if (known.size > root.size) return this.#ahead(known);
      const path = await selectConsistency(reads, known.size, root.size);
      if (path === null) {
        return { outcome: "failed", reason: `The log lacks hashes of the proof from size ${known.size}.` };
      }
      const proof = { oldSize: known.size, path };
      const result = await exchange({ receiver, witness, nowMs: clock.now(), signal }, root, proof);
      if (result.outcome !== "other_size") return result;
      known.size = result.size;
    }
    return { outcome: "failed", reason: "The witness named another size each time." };
  }

  /**
   * Returns the result for a witness that cosigned a larger tree than `root`: another replica sent a newer
   * root, or the log lost its newest leaves.
   */
  async #ahead(known: Known): Promise<Asked> {
    const { size } = known;
    // makes the next round ask the witness for its size
    known.size = 0;
    const newest = signedRootOf(await selectNote(this.#deps.writes));
    if (newest !== null && newest.size >= size) {
      return { outcome: "failed", reason: "The witness has a newer root already." };
    }
    const reason = `the witness cosigned size ${size}, and the log has ${newest?.size ?? 0} leaves`;
    return { outcome: "conflict", reason };
  }

  #noteFailure(known: Known, result: Extract<Asked, { reason: string }>): void {
    const { clock, intervalMs, log } = this.#deps;
    const hasConflict = result.outcome === "conflict";
    const retry_in_ms = Math.min(intervalMs * 2 ** Math.min(known.failures, 16), RETRY_MS_MAX);
    const about = { witness: known.witness.name, reason: result.reason, retry_in_ms };
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

function signedRootOf(note: string | null): SignedRoot | null {
  const root = readRoot(note);
  return note === null || root === null ? null : { size: root.head.size, note };
}
