import type { Clock } from "@ostiary/lib/async";

export type Side = "client" | "service";

/** The timeout is counted in this many parts, so that a message costs no timer. */
const PARTS = 4;
/** The number of silent parts after which the gateway asks a side for a sign of life. */
const PING_AFTER = 2;
/** The payload of the gateway's own pings. A pong that repeats it says that its sender lives, but is no activity. */
const PROBE = Buffer.from("ostiary");

interface Sides {
  readonly client: { ping(payload: Buffer): void };
  readonly service: { ping(payload: Buffer): void };
  onSilence(): void;
}

/** The number of parts of the timeout for which a side has been silent. */
interface Watched {
  silentParts: number;
  /** Whether the gateway does not read from this side now, and so cannot notice that it lives. */
  isPaused: boolean;
}

/**
 * Notices silence in a tunnel (GW-132, GW-213). The tunnel is idle when neither side has sent anything but responses
 * to the gateway's pings. A side is dead when nothing came from it, not even such a response. The runtime responds
 * to the pings of both peers itself, so a peer cannot notice the death of the other one.
 */
export class SilenceWatch {
  readonly #partMs: number;
  readonly #clock: Pick<Clock, "after">;
  readonly #sides: Sides;
  readonly #watched: Record<Side, Watched> = {
    client: { silentParts: 0, isPaused: false },
    service: { silentParts: 0, isPaused: false },
  };
  #idleParts = 0;
  #cancel: () => void;

  constructor(timeoutMs: number, clock: Pick<Clock, "after">, sides: Sides) {
    this.#partMs = timeoutMs / PARTS;
    this.#clock = clock;
    this.#sides = sides;
    this.#cancel = clock.after(this.#partMs, this.#check);
  }

  received(side: Side): void {
    this.#idleParts = 0;
    this.#watched[side].silentParts = 0;
  }

  ponged(side: Side, payload: Buffer): void {
    if (payload.equals(PROBE)) this.progressed(side);
    else this.received(side);
  }

  /** Records that a side lives: it has responded to a ping or read what it was sent. */
  progressed(side: Side): void {
    this.#watched[side].silentParts = 0;
  }

  /** Records that the gateway stops to read from a side, or reads from it again. */
  paused(side: Side, isPaused: boolean): void {
    this.#watched[side] = { silentParts: 0, isPaused };
  }

  end(): void {
    this.#cancel();
  }

  readonly #check = () => {
    const { client, service } = this.#watched;
    this.#idleParts += 1;
    if (!client.isPaused) client.silentParts += 1;
    if (!service.isPaused) service.silentParts += 1;
    // The first part may have begun just before it was counted.
    if (Math.max(this.#idleParts, client.silentParts, service.silentParts) > PARTS) {
      this.#sides.onSilence();
      return;
    }
    this.#cancel = this.#clock.after(this.#partMs, this.#check);
    if (client.silentParts >= PING_AFTER) this.#sides.client.ping(PROBE);
    if (service.silentParts >= PING_AFTER) this.#sides.service.ping(PROBE);
  };
}
