import { randomUUID } from "node:crypto";
import { type Clock, endsWithin, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type CallResult, Receiver, type ReceiverDeps } from "../call.ts";
import { LEASE_MS } from "../delivery-queries.ts";
import type { DeliveryMetrics } from "../metrics.ts";
import { planRetry } from "../retry.ts";
import { signedHeaders } from "../signature.ts";
import { type OperatorBatch, operatorBatch, operatorMessageId } from "./batch.ts";
import type { OperatorStreamSettings } from "./config.ts";
import {
  advanceOperatorStream,
  type Cursor,
  claimOperatorStream,
  failOperatorStream,
  type NextParts,
  type OperatorRow,
  openOperatorStream,
  releaseOperatorLease,
  renewOperatorLease,
  selectNextParts,
} from "./queries.ts";

const LOOK_MS = 1_000;
const RENEW_MS = 1_000;
const RETRY_MS = 1_000;
/** The time that a delivery request in flight may still take when the service stops. */
const STOP_MS = 5_000;

export interface OperatorStreamDeps {
  settings: OperatorStreamSettings;
  reads: Database;
  writes: Database;
  receivers: ReceiverDeps;
  clock: Clock;
  log: Pick<Logger, "error" | "warn">;
  metrics: DeliveryMetrics;
}

/**
 * Delivers the entries of all organizations to the operator's receiver (AU-110). One replica delivers at a
 * time, under a lease in the database. Each call follows the acceptance of the call before.
 */
export class OperatorStream {
  readonly #deps: OperatorStreamDeps;
  readonly #looks: Loop;
  #giveUp = new AbortController();
  #isOpen = false;

  constructor(deps: OperatorStreamDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#looks = new Loop({
      task: (stopping) => this.#look(stopping),
      pause_ms: LOOK_MS,
      retry_ms: RETRY_MS,
      onFailure: (err, retry_in_ms) =>
        log.warn(
          { err, retry_in_ms },
          "the audit service could not run the operator's stream and will try again",
        ),
      clock,
    });
  }

  start(): void {
    this.#looks.start();
  }

  /** Stops. Waits up to 5 s for a delivery request in flight, then aborts it. */
  async stop(): Promise<void> {
    const stopped = this.#looks.stop();
    if (!(await endsWithin(stopped, STOP_MS, this.#deps.clock))) this.#giveUp.abort();
    await stopped;
  }

  async #look(stopping: () => boolean): Promise<void> {
    const { writes, settings, clock } = this.#deps;
    if (!this.#isOpen) {
      await openOperatorStream(writes, settings.url, settings.from);
      this.#isOpen = true;
    }
    const lease = randomUUID();
    // the lease began at the earliest when the statement was sent
    const until_ms = clock.elapsed_ms() + LEASE_MS;
    const row = await claimOperatorStream(writes, lease);
    if (row === null) return;
    this.#giveUp = new AbortController();
    const turn = new Turn(this.#deps, lease, row, this.#giveUp);
    const renewing = turn.keepLease(until_ms);
    try {
      while (!stopping() && !this.#giveUp.signal.aborted && (await turn.deliverNext()));
      await releaseOperatorLease(writes, lease);
    } finally {
      await renewing.stop();
      turn.close();
    }
  }
}

/** The deliveries under one lease. */
class Turn {
  readonly #deps: OperatorStreamDeps;
  readonly #lease: string;
  readonly #giveUp: AbortController;
  readonly #receiver: Receiver;
  #cursor: Cursor;
  #failures: Pick<OperatorRow, "failures" | "failing_ms">;

  constructor(deps: OperatorStreamDeps, lease: string, row: OperatorRow, giveUp: AbortController) {
    this.#deps = deps;
    this.#lease = lease;
    this.#giveUp = giveUp;
    this.#receiver = new Receiver(deps.settings.url, deps.receivers);
    this.#cursor = row;
    this.#failures = row;
  }

  close(): void {
    this.#receiver.close();
  }

  /** Renews the lease each second, and gives the turn up when the lease was lost or has ended. */
  keepLease(until_ms: number): { stop(): Promise<void> } {
    const { writes, clock, log } = this.#deps;
    let cancel = this.#endAt(until_ms);
    const renewals = new Loop({
      task: async () => {
        const next_ms = clock.elapsed_ms() + LEASE_MS;
        if (!(await renewOperatorLease(writes, this.#lease))) return this.#giveUp.abort();
        cancel();
        cancel = this.#endAt(next_ms);
      },
      pause_ms: RENEW_MS,
      retry_ms: RETRY_MS,
      onFailure: (err, retry_in_ms) =>
        log.warn(
          { err, retry_in_ms },
          "the audit service could not run the operator's stream and will try again",
        ),
      clock,
    });
    renewals.start(RENEW_MS);
    return {
      async stop() {
        await renewals.stop();
        cancel();
      },
    };
  }

  #endAt(until_ms: number): () => void {
    const { clock } = this.#deps;
    return clock.after(Math.max(0, until_ms - clock.elapsed_ms()), () => this.#giveUp.abort());
  }

  /** Delivers one batch. Returns whether more may follow under this lease. */
  async deliverNext(): Promise<boolean> {
    const { reads, settings, clock, log, metrics } = this.#deps;
    const next = await selectNextParts(reads, this.#cursor);
    for (const organization_id of next.stuck) {
      log.error(
        { organization_id },
        "the operator's stream leaves an organization out: an entry is missing from its log",
      );
    }
    if (next.parts.length === 0) return next.end !== null && this.#advance(next.end, null);
    const batch = operatorBatch(settings.format, next.parts, clock.now());
    const place = placeBehind(this.#cursor, next, batch);
    if (batch.body === null) return this.#advance(place, batch);
    const begun_ms = clock.elapsed_ms();
    const result = await this.#call(batch.body, batch);
    const call_ms = clock.elapsed_ms() - begun_ms;
    if (result.outcome === "aborted") return false;
    metrics.called(result.outcome, call_ms / 1_000);
    if (result.outcome === "refused") {
      await this.#fail(result, call_ms);
      return false;
    }
    metrics.delivered(batch.parts.reduce((sum, { entries }) => sum + entries.length, 0));
    return this.#advance(place, batch);
  }

  #call(body: Buffer, { parts }: OperatorBatch): Promise<CallResult> {
    const { settings, clock } = this.#deps;
    const message = { id: operatorMessageId(parts), body };
    return this.#receiver.post(
      body,
      signedHeaders(message, settings.secrets, clock.now()),
      this.#giveUp.signal,
    );
  }

  async #advance(place: Cursor, delivered: OperatorBatch | null): Promise<boolean> {
    const places = (delivered?.parts ?? []).flatMap(({ chain_id, entries }) => {
      const last = entries.at(-1);
      return last === undefined ? [] : [{ chain_id, position: last.position, chain: last.chain }];
    });
    const isAccepted = delivered !== null && delivered.body !== null;
    if (isAccepted) this.#failures = { failures: 0, failing_ms: 0 };
    this.#cursor = place;
    return advanceOperatorStream(this.#deps.writes, this.#lease, place, places, isAccepted);
  }

  /** The stream never pauses for good: nobody but the operator could start it again. */
  async #fail(result: Extract<CallResult, { outcome: "refused" }>, call_ms: number): Promise<void> {
    const { writes, log } = this.#deps;
    const plan = planRetry(this.#failures, { ...result, call_ms });
    if (this.#failures.failures === 0) {
      log.warn({ reason: result.error }, "the receiver of the operator's stream refused a call");
    }
    await failOperatorStream(writes, this.#lease, result.error, plan);
  }
}

/** Returns the place of the stream behind the last chain that the batch delivers completely. */
function placeBehind(from: Cursor, { behind, parts, end }: NextParts, batch: OperatorBatch): Cursor {
  const isAll =
    batch.parts.length === parts.length &&
    batch.parts.at(-1)?.entries.length === parts.at(-1)?.entries.length;
  if (isAll) return end ?? from;
  const cut = batch.parts.length - 1;
  const isCutWhole = batch.parts[cut]?.entries.length === parts[cut]?.entries.length;
  const last = parts[isCutWhole ? cut : cut - 1];
  return (last === undefined ? undefined : behind.get(last.chain_id)) ?? from;
}
