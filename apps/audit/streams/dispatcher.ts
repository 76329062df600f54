import { randomUUID } from "node:crypto";
import { type Clock, endsWithin, Loop } from "@ostiary/lib/async";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type HeldLease, LEASE_MS } from "./lease-sql.ts";

const CLAIM_MS = 1_000;
const RENEW_MS = 1_000;
const RETRY_MS = 1_000;
/**
 * The length of a turn. A stream whose lane has no free slot ends its delivery after this time, so that
 * waiting streams get a slot.
 */
const TURN_MS = 5_000;
/** The minimum time between two searches for streams that have something to deliver. */
const CLAIM_GAP_MS = 20;
/** The time that delivery requests in flight may still take when the service stops. */
const STOP_MS = 5_000;
/** The maximum number of streams that a replica delivers at once, so that receivers cannot fill its memory (AU-187). */
const DELIVERIES_MAX = 128;

/**
 * The time slice in which a replica delivers one stream, from the claim of the stream's lease to the release.
 */
export interface Turn {
  lease: string;
  /** Aborted when the lease is lost, or when the service stops and the delivery request takes longer than 5 s. */
  signal: AbortSignal;
  /** Returns whether the turn should end after the delivery request in flight. */
  isOver: () => boolean;
  /**
   * Moves the stream to the slow lane, because its receiver is slow. The lane that the stream leaves gets a
   * free slot.
   */
  yieldSlot: () => void;
}

/**
 * A group of streams with a limited number of delivery slots, so that the group cannot delay other groups.
 */
export interface Lane<Row> {
  /** The maximum number of streams that a replica delivers at once. */
  max: number;
  /** Claims the leases of at most `limit` streams that have something to deliver. */
  claim: (lease: string, limit: number) => Promise<readonly Row[]>;
}

/** The streams that a {@link Dispatcher} delivers. */
export interface Streams<Row extends { id: string }> {
  /**
   * The last lane is that of streams whose receivers are slow. A lane never takes free slots of the lanes before it.
   */
  lanes: readonly Lane<Row>[];
  /** Renews leases and returns those that this replica still holds. */
  renew: (held: readonly HeldLease[]) => Promise<readonly HeldLease[]>;
  /** Delivers a stream for one turn, and releases its lease. A lease that is not released expires. */
  deliver: (row: Row, turn: Turn) => Promise<void>;
}

interface DispatcherDeps {
  clock: Clock;
  log: Pick<Logger, "warn">;
}

interface Delivery<Row> extends HeldLease {
  lane: Lane<Row>;
  giveUp: AbortController;
  /** Cancels the timer that aborts the delivery when the lease ends. */
  cancel: () => void;
  done: Promise<void>;
}

/**
 * Delivers streams in the background. A replica delivers a stream while it has the stream's lease in the database,
 * and renews the lease. If the replica dies, another replica takes over within 10 s (AU-105).
 */
export class Dispatcher<Row extends { id: string }> {
  readonly #streams: Streams<Row>;
  readonly #deps: DispatcherDeps;
  readonly #deliveries = new Map<string, Delivery<Row>>();
  readonly #claims: Loop;
  readonly #renewals: Loop;
  #stopping = false;

  constructor(streams: Streams<Row>, deps: DispatcherDeps) {
    this.#streams = streams;
    this.#deps = deps;
    const { clock, log } = deps;
    const loop = (task: () => Promise<void>, pauseMs: number, gapMs: number) =>
      new Loop({
        task,
        pauseMs,
        gapMs,
        retryMs: RETRY_MS,
        onFailure: (err, retry_in_ms) =>
          log.warn(
            { err, retry_in_ms },
            "the audit service could not maintain its streams and will try again",
          ),
        clock,
      });
    this.#claims = loop(() => this.#claim(), CLAIM_MS, CLAIM_GAP_MS);
    this.#renewals = loop(() => this.#renew(), RENEW_MS, 0);
  }

  start(): void {
    this.#claims.start();
    this.#renewals.start(RENEW_MS);
  }

  /**
   * Stops claiming streams. Waits up to 5 s for delivery requests in flight, then aborts them. Releases the leases.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#claims.stop();
    const all = Promise.all(Array.from(this.#deliveries.values(), ({ done }) => done));
    if (!(await endsWithin(all, STOP_MS, this.#deps.clock))) {
      for (const { giveUp } of this.#deliveries.values()) giveUp.abort();
      await all;
    }
    await this.#renewals.stop();
  }

  async #claim(): Promise<void> {
    for (const lane of this.#streams.lanes) {
      const free = this.#free(lane);
      if (free <= 0 || this.#stopping) continue;
      const lease = randomUUID();
      // the lease begins after this time, so it does not end before `untilMs`
      const untilMs = this.#deps.clock.elapsedMs() + LEASE_MS;
      for (const row of await lane.claim(lease, free)) this.#begin(row, lease, lane, untilMs);
    }
  }

  #free(lane: Lane<Row>): number {
    const { lanes } = this.#streams;
    const kept = lanes.slice(0, lanes.indexOf(lane)).reduce((sum, each) => sum + this.#unused(each), 0);
    return Math.min(this.#unused(lane), DELIVERIES_MAX - this.#deliveries.size - kept);
  }

  #unused(lane: Lane<Row>): number {
    return this.#deliveries.values().reduce((left, each) => left - Number(each.lane === lane), lane.max);
  }

  #begin(row: Row, lease: string, lane: Lane<Row>, untilMs: number): void {
    const { clock } = this.#deps;
    const { id } = row;
    const giveUp = new AbortController();
    const begunMs = clock.elapsedMs();
    const delivery: Delivery<Row> = {
      id,
      lease,
      lane,
      giveUp,
      cancel: () => {},
      done: Promise.resolve(),
    };
    this.#deliveries.set(lease + id, delivery);
    this.#holdUntil(delivery, untilMs);
    delivery.done = this.#run(row, delivery, {
      lease,
      signal: giveUp.signal,
      isOver: () =>
        this.#stopping || (this.#free(delivery.lane) <= 0 && clock.elapsedMs() - begunMs > TURN_MS),
      yieldSlot: () => {
        delivery.lane = this.#streams.lanes.at(-1) ?? lane;
        this.#claims.wake();
      },
    });
  }

  /** Aborts the delivery at `untilMs`, the end of its lease, unless the lease is renewed before. */
  #holdUntil(delivery: Delivery<Row>, untilMs: number): void {
    const { clock } = this.#deps;
    delivery.cancel();
    delivery.cancel = clock.after(Math.max(0, untilMs - clock.elapsedMs()), () => delivery.giveUp.abort());
  }

  async #run(row: Row, delivery: Delivery<Row>, turn: Turn): Promise<void> {
    const { id, lease } = delivery;
    try {
      await this.#streams.deliver(row, turn);
    } catch (err) {
      // the lease expires; then a replica that reaches the database continues the delivery
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
    const untilMs = this.#deps.clock.elapsedMs() + LEASE_MS;
    const renewed = await this.#streams.renew(held.map(({ id, lease }) => ({ id, lease })));
    // this replica can have claimed a stream again whose earlier lease ended
    const kept = new Set(renewed.map(({ id, lease }) => lease + id));
    for (const delivery of held) {
      if (!this.#deliveries.has(delivery.lease + delivery.id)) continue;
      if (kept.has(delivery.lease + delivery.id)) this.#holdUntil(delivery, untilMs);
      else delivery.giveUp.abort();
    }
  }
}
