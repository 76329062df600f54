import { randomUUID } from "node:crypto";
import { type Clock, endsWithin, Loop } from "@ostiary/lib/async";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type CourierDeps, deliverTurn } from "./courier.ts";
import { claimStreams, type DeliveryRow, LEASE_MS, releaseLease, renewLeases } from "./delivery-queries.ts";
import { renewSecrets } from "./rekey-queries.ts";

/** The maximum number of streams that a replica delivers at once to receivers that answer fast. */
export const LANES = 32;
/** The maximum number of slow or failing streams that a replica delivers at once. */
export const SLOW_LANES = 16;
const CLAIM_MS = 1_000;
const RENEW_MS = 1_000;
const REKEY_MS = 10_000;
const RETRY_MS = 1_000;
/** A turn ends after this time, so that streams which wait for a lane get one. */
const TURN_MS = 5_000;
/** The time for which a stream waits when its next entry is missing. */
const STUCK_MS = 60_000;
/** The least time between two looks for streams. */
const CLAIM_GAP_MS = 20;
/** The time that delivery requests in flight may still take when the service stops. */
const STOP_MS = 5_000;

export interface DispatcherDeps extends CourierDeps {
  clock: Clock;
  log: Pick<Logger, "error" | "warn">;
}

/** A stream that this replica delivers. */
interface Delivery {
  id: string;
  lease: string;
  is_slow: boolean;
  giveUp: AbortController;
  /** Cancels the end of the lease. */
  cancel: () => void;
  done: Promise<void>;
}

/**
 * Delivers streams in the background. A replica delivers a stream while it holds the lease in the database, which it
 * renews; when it dies, another replica takes the stream over within 10 s (AU-105). Slow and failing receivers have lanes
 * of their own, so they delay nobody else.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #deliveries = new Map<string, Delivery>();
  readonly #claims: Loop;
  readonly #renewals: Loop;
  readonly #rekeys: Loop;
  #stopping = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    const loop = (task: () => Promise<void>, pause_ms: number, gap_ms = 0) =>
      new Loop({
        task,
        pause_ms,
        gap_ms,
        retry_ms: RETRY_MS,
        onFailure: (err, retry_in_ms) =>
          log.warn(
            { err, retry_in_ms },
            "the audit service could not maintain its streams and will try again",
          ),
        clock,
      });
    this.#claims = loop(() => this.#claim(), CLAIM_MS, CLAIM_GAP_MS);
    this.#renewals = loop(() => this.#renew(), RENEW_MS);
    this.#rekeys = loop(() => renewSecrets(deps.writes, deps.secrets), REKEY_MS);
  }

  start(): void {
    this.#claims.start();
    this.#renewals.start(RENEW_MS);
    this.#rekeys.start();
  }

  /**
   * Stops. Claims no more streams. Waits up to 5 s for delivery requests in flight, then aborts them.
   * Releases the leases.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([this.#claims.stop(), this.#rekeys.stop()]);
    const all = Promise.all(Array.from(this.#deliveries.values(), ({ done }) => done));
    if (!(await endsWithin(all, STOP_MS, this.#deps.clock))) {
      for (const { giveUp } of this.#deliveries.values()) giveUp.abort();
      await all;
    }
    await this.#renewals.stop();
  }

  async #claim(): Promise<void> {
    for (const is_slow of [false, true]) {
      const free = this.#free(is_slow);
      if (free === 0 || this.#stopping) continue;
      const lease = randomUUID();
      // the lease began at the earliest when the statement was sent
      const until_ms = this.#deps.clock.elapsed_ms() + LEASE_MS;
      for (const row of await claimStreams(this.#deps.writes, lease, is_slow, free)) {
        this.#begin(row, lease, is_slow, until_ms);
      }
    }
  }

  #free(is_slow: boolean): number {
    const used = Array.from(this.#deliveries.values()).filter((each) => each.is_slow === is_slow).length;
    return (is_slow ? SLOW_LANES : LANES) - used;
  }

  #begin(row: DeliveryRow, lease: string, is_slow: boolean, until_ms: number): void {
    const { clock } = this.#deps;
    const { id } = row;
    const giveUp = new AbortController();
    const begun_ms = clock.elapsed_ms();
    const isOver = () =>
      this.#stopping || (this.#free(is_slow) === 0 && clock.elapsed_ms() - begun_ms > TURN_MS);
    const delivery: Delivery = { id, lease, is_slow, giveUp, cancel: () => {}, done: Promise.resolve() };
    this.#deliveries.set(lease + id, delivery);
    this.#holdUntil(delivery, until_ms);
    delivery.done = this.#run(row, delivery, isOver);
  }

  /** Gives the delivery up when its lease ends without having been renewed. */
  #holdUntil(delivery: Delivery, until_ms: number): void {
    const { clock } = this.#deps;
    delivery.cancel();
    delivery.cancel = clock.after(Math.max(0, until_ms - clock.elapsed_ms()), () => delivery.giveUp.abort());
  }

  async #run(row: DeliveryRow, delivery: Delivery, isOver: () => boolean): Promise<void> {
    const { id, lease, giveUp } = delivery;
    try {
      const isStuck = await deliverTurn(this.#deps, row, { lease, signal: giveUp.signal, isOver });
      if (isStuck)
        this.#deps.log.error(
          { stream_id: id },
          "an audit stream waits for an entry that is missing from the log",
        );
      await releaseLease(this.#deps.writes, id, lease, isStuck ? STUCK_MS : 0);
    } catch (err) {
      // the lease ends by itself, and a replica whose database answers goes on
      this.#deps.log.warn(
        { err, stream_id: id },
        "delivering an audit stream failed and will be tried again",
      );
    } finally {
      delivery.cancel();
      this.#deliveries.delete(lease + id);
      if (!this.#stopping) this.#claims.wake();
    }
  }

  async #renew(): Promise<void> {
    const held = Array.from(this.#deliveries.values());
    if (held.length === 0) return;
    const until_ms = this.#deps.clock.elapsed_ms() + LEASE_MS;
    const kept = await renewLeases(
      this.#deps.writes,
      held.map(({ id, lease }) => ({ id, lease })),
    );
    for (const delivery of held) {
      if (!this.#deliveries.has(delivery.lease + delivery.id)) continue;
      if (kept.has(delivery.id)) this.#holdUntil(delivery, until_ms);
      else delivery.giveUp.abort();
    }
  }
}
