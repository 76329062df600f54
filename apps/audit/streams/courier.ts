import type { Clock } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type Batch, ostiaryBatch } from "./batch.ts";
import { type CallResult, Receiver, type ReceiverDeps } from "./call.ts";
import { advanceStream, type DeliveryRow, failStream, selectNext } from "./delivery-queries.ts";
import type { DeliveryMetrics } from "./metrics.ts";
import { ocsfBatch } from "./ocsf.ts";
import { planRetry } from "./retry.ts";
import { type SecretBox, SecretUnreadable } from "./secrets.ts";
import { signedHeaders } from "./signature.ts";

export interface CourierDeps {
  reads: Database;
  writes: Database;
  secrets: SecretBox;
  receivers: ReceiverDeps;
  clock: Clock;
  log: Pick<Logger, "error" | "warn">;
  metrics: DeliveryMetrics;
}

/**
 * If a delivery request takes longer than this, the stream counts as slow. Slow streams use lanes of their
 * own.
 */
const SLOW_CALL_MS = 2_000;

/** The lease under which a stream is delivered. */
export interface Turn {
  lease: string;
  /** Aborts the delivery request when the lease is lost, or when the service's time to stop is over. */
  signal: AbortSignal;
  /** Returns whether the turn should end after the delivery request in flight. */
  isOver: () => boolean;
}

/**
 * Delivers a stream for one turn (AU-102). Sends each batch after the receiver has accepted the batch before.
 * Stops when no entry is left, a delivery request fails or the turn is over. A batch counts as delivered once
 * the database holds its place, so a crash before that write delivers the batch again. Returns true if the
 * head says that the log continues, but its next entry is missing.
 */
export async function deliverTurn(deps: CourierDeps, claimed: DeliveryRow, turn: Turn): Promise<boolean> {
  const courier = new Courier(deps, turn, claimed);
  try {
    return await courier.run();
  } finally {
    courier.close();
  }
}

class Courier {
  readonly #deps: CourierDeps;
  readonly #turn: Turn;
  #stream: DeliveryRow;
  #receiver: Receiver;
  #url: string;
  /** Secrets by their encrypted form. */
  readonly #opened = new Map<string, string>();
  #isStuck = false;

  constructor(deps: CourierDeps, turn: Turn, stream: DeliveryRow) {
    this.#deps = deps;
    this.#turn = turn;
    this.#stream = stream;
    this.#url = stream.url;
    this.#receiver = new Receiver(stream.url, deps.receivers);
  }

  close(): void {
    this.#receiver.close();
  }

  /** Runs the turn. Returns true if the head says that the log continues, but its next entry is missing. */
  async run(): Promise<boolean> {
    const { signal, isOver } = this.#turn;
    while (!signal.aborted && this.#stream.status !== "paused" && (await this.#deliverNext())) {
      if (isOver()) break;
    }
    return this.#isStuck;
  }

  /** Delivers one batch. Returns whether more may follow in this turn. */
  async #deliverNext(): Promise<boolean> {
    const { reads } = this.#deps;
    const { entries, scanned } = await selectNext(reads, this.#stream);
    if (entries.length === 0) {
      if (scanned === this.#stream.position) {
        this.#isStuck = this.#stream.head > scanned;
        return false;
      }
      return this.#advance(scanned, null, false);
    }
    const batch = this.#batchOf(entries);
    const last = batch.entries.at(-1);
    if (last === undefined) throw new Error("A batch of a stream has no entry.");
    const place = batch.entries.length === entries.length ? scanned : last.position;
    if (batch.body === null) return this.#advance(place, null, false);
    const begun_ms = this.#deps.clock.elapsed_ms();
    const result = await this.#call(batch.body, batch.entries);
    const call_ms = this.#deps.clock.elapsed_ms() - begun_ms;
    if (result.outcome === "aborted") return false;
    this.#deps.metrics.called(result.outcome, call_ms / 1_000);
    if (result.outcome === "refused") {
      await this.#fail(result, call_ms);
      return false;
    }
    this.#deps.metrics.delivered(batch.entries.length);
    return this.#advance(place, last, call_ms > SLOW_CALL_MS);
  }

  #batchOf(entries: Batch["entries"]): Batch {
    const { id, organization_id, format, after_position, after_chain } = this.#stream;
    const after = { position: after_position, chain: after_chain };
    const build = format === "ocsf" ? ocsfBatch : ostiaryBatch;
    return build({ id, organization_id, after }, entries, this.#deps.clock.now());
  }

  async #call(body: Buffer, entries: Batch["entries"]): Promise<CallResult> {
    const { id, url } = this.#stream;
    if (url !== this.#url) {
      this.#receiver.close();
      this.#url = url;
      this.#receiver = new Receiver(url, this.#deps.receivers);
    }
    const message = { id: `${id}-${entries.at(0)?.position}-${entries.at(-1)?.position}`, body };
    try {
      const headers = signedHeaders(message, await this.#secrets(), this.#deps.clock.now());
      return await this.#receiver.post(body, headers, this.#turn.signal);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      this.#deps.log.error(
        { stream_id: id, reason: error.message },
        "the audit service cannot read the secret of a stream",
      );
      const told = "The secret cannot be read: rotate it, or ask the operator.";
      return { outcome: "refused", status: null, error: told, retry_after_ms: null };
    }
  }

  #secrets(): Promise<string[]> {
    const { id, secret, previous_secret } = this.#stream;
    const sealed = previous_secret === null ? [secret] : [secret, previous_secret];
    return Promise.all(
      sealed.map(async (text) => {
        const known = this.#opened.get(text) ?? (await this.#deps.secrets.open(text, id));
        this.#opened.set(text, known);
        return known;
      }),
    );
  }

  /** Writes the new place. Returns false when the stream was deleted, or another replica delivers now. */
  async #advance(
    position: number,
    delivered: Batch["entries"][number] | null,
    is_slow: boolean,
  ): Promise<boolean> {
    const { id } = this.#stream;
    const next = await advanceStream(this.#deps.writes, id, this.#turn.lease, {
      position,
      delivered,
      is_slow,
    });
    if (next !== null) this.#stream = next;
    return next !== null;
  }

  async #fail(result: Extract<CallResult, { outcome: "refused" }>, call_ms: number): Promise<void> {
    const { writes, log, metrics } = this.#deps;
    const { id, organization_id } = this.#stream;
    const plan = planRetry(this.#stream, { ...result, call_ms });
    const status = await failStream(writes, id, this.#turn.lease, result.error, plan);
    if (status !== "paused" || !plan.gives_up) return;
    metrics.paused();
    const about = { stream_id: id, organization_id, reason: result.error };
    log.warn(about, "the audit service paused a stream: its receiver is gone, or failed for 72 hours");
  }
}
