import { pause } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type Batch, ostiaryBatch } from "./batch.ts";
import { advanceStream, type DeliveryRow, failStream, selectNext } from "./delivery-sql.ts";
import type { Turn } from "./dispatcher.ts";
import { releaseLease, STREAMS } from "./lease-sql.ts";
import { ocsfBatch } from "./ocsf.ts";
import { planRetry } from "./retry.ts";
import { type SecretBox, SecretUnreadable } from "./secrets.ts";
import { type Refusal, Sender, type SenderDeps, type Sent } from "./sender.ts";

export interface DeliveryDeps extends SenderDeps {
  reads: Database;
  writes: Database;
  secrets: SecretBox;
  log: Pick<Logger, "error" | "warn">;
}

/** A stream counts as slow if a delivery request takes longer than this. Slow streams have their own lane. */
const SLOW_CALL_MS = 2_000;

/**
 * The minimum time for each entry while a stream catches up, which allows at most 5000 entries a second. The limit
 * leaves most of the process's time to writes of events (AU-118).
 */
const ENTRY_MS_MIN = 0.2;

/** The pause of a stream whose next entry is missing. */
const STUCK_MS = 60_000;

/**
 * Delivers a stream for one time slice, called a turn (AU-102), and then releases the turn's lease. Sends each batch
 * only after the receiver has accepted the previous one. Stops when no entry is left, a delivery request fails or
 * the turn is over. A batch counts as delivered once the database has the new position: a crash before that
 * write repeats the batch.
 */
export async function deliverTurn(deps: DeliveryDeps, claimed: DeliveryRow, turn: Turn): Promise<void> {
  const delivery = new Delivery(deps, turn, claimed);
  const { id } = claimed;
  try {
    const isStuck = await delivery.run();
    if (isStuck)
      deps.log.error({ stream_id: id }, "an audit stream waits for an entry that is missing from the log");
    await releaseLease(deps.writes, STREAMS, { id, lease: turn.lease }, isStuck ? STUCK_MS : 0);
  } finally {
    delivery.close();
  }
}

class Delivery {
  readonly #deps: DeliveryDeps;
  readonly #turn: Turn;
  #stream: DeliveryRow;
  readonly #sender: Sender;
  /** Decrypted secrets, by their encrypted form. */
  readonly #opened = new Map<string, string>();
  #isStuck = false;

  constructor(deps: DeliveryDeps, turn: Turn, stream: DeliveryRow) {
    this.#deps = deps;
    this.#turn = turn;
    this.#stream = stream;
    this.#sender = new Sender(deps, stream.url);
  }

  close(): void {
    this.#sender.close();
  }

  /** Runs the turn. Returns true if the next entry is missing although the log continues. */
  async run(): Promise<boolean> {
    const { signal, isOver } = this.#turn;
    while (!signal.aborted && this.#stream.status !== "paused" && (await this.#deliverNext())) {
      if (isOver()) break;
    }
    return this.#isStuck;
  }

  /** Delivers one batch. Returns whether more may follow in this turn. */
  async #deliverNext(): Promise<boolean> {
    const { reads, clock } = this.#deps;
    const begunMs = clock.elapsedMs();
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
    const sent = await this.#send(batch.body, batch.entries);
    if (sent.outcome === "aborted") return false;
    if (sent.outcome === "refused") {
      await this.#fail(sent);
      return false;
    }
    this.#deps.metrics.delivered(batch.entries.length);
    const goesOn = await this.#advance(place, last, sent.callMs > SLOW_CALL_MS);
    if (goesOn) await this.#pace(begunMs + batch.entries.length * ENTRY_MS_MIN);
    return goesOn;
  }

  /** Waits until `untilMs` if the stream still has entries to deliver. */
  async #pace(untilMs: number): Promise<void> {
    const { clock } = this.#deps;
    const restMs = untilMs - clock.elapsedMs();
    if (restMs > 0 && this.#stream.position < this.#stream.head) await pause(clock, restMs);
  }

  #batchOf(entries: Batch["entries"]): Batch {
    const { id, organization_id, format, after_position, after_chain } = this.#stream;
    const after = { position: after_position, chain: after_chain };
    const build = format === "ocsf" ? ocsfBatch : ostiaryBatch;
    return build({ id, organization_id, after }, entries, this.#deps.clock.now());
  }

  async #send(body: Buffer, entries: Batch["entries"]): Promise<Sent> {
    const { id, url } = this.#stream;
    const message = { id: `${id}-${entries.at(0)?.position}-${entries.at(-1)?.position}`, body };
    const secrets = await this.#secrets();
    if (secrets === null) {
      this.#deps.metrics.called("refused", 0);
      const error = "The secret cannot be read: rotate it, or ask the operator.";
      return { outcome: "refused", status: null, error, retryAfterMs: null, callMs: 0 };
    }
    this.#sender.turnTo(url);
    const cancel = this.#deps.clock.after(SLOW_CALL_MS, this.#turn.yieldPlace);
    try {
      return await this.#sender.send(message, secrets, this.#turn.signal);
    } finally {
      cancel();
    }
  }

  /** Returns the secrets that sign messages, or null if one of them cannot be decrypted. */
  async #secrets(): Promise<string[] | null> {
    const { id, secret, previous_secret } = this.#stream;
    const sealed = previous_secret === null ? [secret] : [secret, previous_secret];
    try {
      return await Promise.all(
        sealed.map(async (text) => {
          const known = this.#opened.get(text) ?? (await this.#deps.secrets.open(text, id));
          this.#opened.set(text, known);
          return known;
        }),
      );
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      this.#deps.log.error(
        { stream_id: id, reason: error.message },
        "the audit service cannot read the secret of a stream",
      );
      return null;
    }
  }

  /** Stores the new position. Returns false if the stream was deleted, or if another replica delivers it now. */
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

  async #fail(refusal: Refusal): Promise<void> {
    const { writes, log, metrics } = this.#deps;
    const { id, organization_id } = this.#stream;
    const plan = planRetry(this.#stream, refusal);
    const status = await failStream(writes, id, this.#turn.lease, refusal.error, plan);
    if (status !== "paused" || !plan.givesUp) return;
    metrics.paused();
    const about = { stream_id: id, organization_id, reason: refusal.error };
    log.warn(about, "the audit service paused a stream: its receiver is gone, or failed for 72 hours");
  }
}
