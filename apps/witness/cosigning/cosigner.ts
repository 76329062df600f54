import { type Clock, Semaphore } from "@ostiary/lib/async";
import { ApiError } from "@ostiary/lib/domain/errors";
import {
  cosignNote,
  EMPTY_ROOT,
  isConsistent,
  knownSignatures,
  type NoteSigner,
  readNote,
  readTreeHead,
  signatureLine,
  type TreeHead,
} from "@ostiary/lib/domain/tlog";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { KnownLogs } from "../logs/logs-file.ts";
import type { CosignedHead } from "../state/state-file.ts";
import type { Refusal, WitnessMetrics } from "./metrics.ts";
import { malformed, readSubmission, type Submission } from "./submission.ts";

/**
 * The result of an add-checkpoint call: a signature line, or the size of the tree that the witness cosigned
 * last.
 */
export type Answer = { outcome: "cosigned"; line: string } | { outcome: "conflict"; size: number };

interface CosignerDeps {
  key: NoteSigner;
  logs: KnownLogs;
  /** The newest heads that the witness cosigned, by origin. */
  heads: ReadonlyMap<string, CosignedHead>;
  /** Replaces the stored heads. Resolves once they are durable. */
  store: (heads: ReadonlyMap<string, CosignedHead>) => Promise<void>;
  clock: Clock;
  log: Pick<Logger, "error" | "warn">;
  metrics: WitnessMetrics;
}

/** A submission with its tree head, which a configured key of the log signed. */
interface Signed extends Submission {
  head: TreeHead;
  /** The signed text of the note. */
  text: string;
}

/**
 * Cosigns tree heads of configured logs (OP-80). The check against the last head, the write of the new head
 * and the signature are one step, which no other call interrupts. Therefore the witness never cosigns two
 * histories of a log.
 */
export class Cosigner {
  readonly #deps: CosignerDeps;
  readonly #turn = new Semaphore(1);
  #heads: ReadonlyMap<string, CosignedHead>;
  #isUnwritable = false;

  constructor(deps: CosignerDeps) {
    this.#deps = deps;
    this.#heads = deps.heads;
  }

  /** Stores the state again after a failed write. Rejects if this write fails too. */
  async check(): Promise<void> {
    if (this.#isUnwritable) await this.#turn.run(() => this.#store(this.#heads));
  }

  /** Resolves when no call is in flight. */
  async idle(): Promise<void> {
    await this.#turn.run(async () => {});
  }

  /**
   * Cosigns the tree head in the body of an add-checkpoint call, if it extends the last cosigned one.
   *
   * @throws ApiError for a tree head that is refused
   */
  async add(body: string): Promise<Answer> {
    const signed = await this.#verified(this.#read(body));
    return this.#turn.run(() => this.#decide(signed));
  }

  #read(body: string): Submission {
    try {
      return readSubmission(body);
    } catch (error) {
      this.#deps.metrics.refused("malformed");
      throw error;
    }
  }

  /** Checks the parts of a submission that do not depend on earlier cosignatures: form, log, signature and sizes. */
  async #verified(submission: Submission): Promise<Signed> {
    const note = readNote(submission.note);
    const head = note === null ? null : readTreeHead(note.text);
    if (note === null || head === null) {
      throw this.#refusal("malformed", malformed("The checkpoint is not a signed note with a tree head."));
    }
    const keys = this.#deps.logs.get(head.origin);
    if (keys === undefined) {
      const message = "The witness does not know the log of this origin.";
      throw this.#refusal("unknown_log", new ApiError("NOT_FOUND", { message }));
    }
    const signatures = await knownSignatures(note, keys);
    if (!signatures.some(({ isRight }) => isRight)) {
      const message = "The checkpoint is not signed by a key that the witness knows for this log.";
      throw this.#refusal("unknown_key", new ApiError("FORBIDDEN", { message }));
    }
    if (submission.oldSize > head.size) {
      throw this.#refusal("malformed", malformed("The old size is larger than the size of the checkpoint."));
    }
    return { ...submission, head, text: note.text };
  }

  async #decide(signed: Signed): Promise<Answer> {
    const { head, oldSize, note } = signed;
    const { log, metrics } = this.#deps;
    const { origin, size } = head;
    const last = this.#lastOf(origin);
    if (oldSize !== last.size) {
      metrics.refused("other_size");
      return { outcome: "conflict", size: last.size };
    }
    if (isConsistent(last, head, signed.proof)) return this.#cosign(signed);
    const seen = { origin, cosigned_size: last.size, cosigned_root: last.root.toBase64(), note };
    if (size === last.size) {
      metrics.refused("fork");
      log.error(seen, "a log signed two different trees of the same size: the witness keeps the first tree");
      return { outcome: "conflict", size };
    }
    log.warn(seen, "the witness got a checkpoint that does not extend the last checkpoint of its log");
    const message = `The proof does not lead from size ${last.size} to size ${size}.`;
    throw this.#refusal("wrong_proof", new ApiError("VALIDATION_ERROR", { message }));
  }

  #lastOf(origin: string): { size: number; root: Uint8Array } {
    const last = this.#heads.get(origin);
    return last === undefined
      ? { size: 0, root: EMPTY_ROOT }
      : { size: last.size, root: Uint8Array.fromBase64(last.root) };
  }

  /** Stores the head before signing it, so that no cosigned head is lost in a crash. */
  async #cosign({ head: { origin, size, root }, text }: Signed): Promise<Answer> {
    const { key, clock, metrics } = this.#deps;
    await this.#store(new Map(this.#heads).set(origin, { origin, size, root: root.toBase64() }));
    const cosignature = await cosignNote(text, key, Math.floor(clock.now() / 1_000));
    metrics.cosigned();
    return { outcome: "cosigned", line: signatureLine(cosignature) };
  }

  /**
   * Stores heads. After a failure, the file may contain the old or the new heads. The old heads then stay in memory, and
   * the state counts as unwritable until {@link check} succeeds.
   */
  async #store(heads: ReadonlyMap<string, CosignedHead>): Promise<void> {
    try {
      await this.#deps.store(heads);
    } catch (cause) {
      this.#isUnwritable = true;
      this.#deps.metrics.failed();
      const message = "The witness cannot write its state.";
      throw new ApiError("SERVICE_UNAVAILABLE", { message, kind: "io", cause });
    }
    this.#isUnwritable = false;
    this.#heads = heads;
  }

  #refusal(reason: Refusal, error: ApiError): ApiError {
    this.#deps.metrics.refused(reason);
    return error;
  }
}
