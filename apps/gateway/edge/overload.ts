import { type Clock, Loop } from "@ostiary/lib/async";
import { ApiError } from "@ostiary/lib/domain/errors";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { ProcessReadings } from "./process-readings.ts";

export interface OverloadOptions {
  /** Requests under way at once, streams and WebSockets included. */
  readonly requests_max: number;
  /** Connections of clients and services together; 0: three quarters of the descriptors. */
  readonly connections_max: number;
  /** Resident memory of the process; 0: three quarters of what it may have. */
  readonly memory_bytes_max: number;
}

/** What there is too much of. */
export type OverloadCause = "requests" | "connections" | "memory";

/** What the runtime knows of the connections of a port. */
type Connections = Pick<
  Bun.Server<unknown>,
  "pendingRequests" | "pendingWebSockets" | "closeIdleConnections"
>;

/** What is given up when memory runs short. */
export interface Relief {
  endSlowReaders(): void;
}

const LOOK_MS = 100;
/** Connections are looked at after so many requests too, and where few more have room, earlier: see `looksEach`. */
const LOOK_REQUESTS_MAX = 128;
const LOOK_REQUESTS_MIN = 16;
/** Looks before what is left beyond the limit of connections could be full. */
const LOOKS_IN_ROOM = 4;
/** A request may open as many: its client's and its service's. */
const DESCRIPTORS_OF_REQUEST = 2;
/** So many requests are served whatever else is held: what can not be given back must not shut everybody out. */
const RESERVED_REQUESTS = 100;
/** Of what the process may have, where no limit is given: what comes between two looks must fit into the rest. */
const SHARE = 0.75;
/** Between two collections. */
const COLLECT_PAUSE_MS = 2_000;
const RETRY_AFTER_SECONDS = "1";

/**
 * Refuses requests before the process runs out of memory or descriptors (beyond the specification): 503, and the
 * connection ends with it. A request costs some comparisons; what is held is looked at ten times a second.
 */
export class Overload {
  readonly #options: OverloadOptions;
  readonly #readings: ProcessReadings;
  readonly #relief: Relief;
  readonly #log: Pick<Logger, "info" | "warn">;
  readonly #clock: Clock;
  readonly #loop: Loop;
  readonly #refused: Record<OverloadCause, number> = { requests: 0, connections: 0, memory: 0 };
  readonly #look_requests: number;
  #cause: OverloadCause = "requests";
  #allowed: number;
  #collected_ms = Number.NEGATIVE_INFINITY;
  #since_look = 0;
  /** Of the last request. */
  #connections: Connections | null = null;

  constructor(
    options: OverloadOptions,
    readings: ProcessReadings,
    relief: Relief,
    log: Pick<Logger, "info" | "warn">,
    clock: Clock,
  ) {
    const { connections_max, memory_bytes_max } = options;
    this.#options = {
      ...options,
      connections_max: connections_max || Math.floor(readings.descriptors_max * SHARE),
      memory_bytes_max: memory_bytes_max || Math.floor(readings.memory_bytes_max * SHARE),
    };
    this.#look_requests = looksEach(readings.descriptors_max - this.#options.connections_max);
    this.#readings = readings;
    this.#relief = relief;
    this.#log = log;
    this.#clock = clock;
    this.#allowed = options.requests_max;
    this.#loop = new Loop({
      task: async () => this.#look(),
      pause_ms: LOOK_MS,
      retry_ms: LOOK_MS,
      onFailure: () => {},
      clock,
    });
  }

  start(): void {
    this.#warnOfVainLimits();
    this.#loop.start();
  }

  /** Of limits that nothing can reach, since the process runs out before. */
  #warnOfVainLimits(): void {
    const { connections_max, memory_bytes_max } = this.#options;
    const { descriptors_max, memory_bytes_max: memory_bytes } = this.#readings;
    if (connections_max > descriptors_max) {
      this.#log.warn(
        { connections_max, descriptors_max },
        "MAX_CONNECTIONS is more than this process may open: nothing is refused before it can open no more",
      );
    }
    if (memory_bytes_max > memory_bytes) {
      this.#log.warn(
        { memory_bytes_max, memory_bytes },
        "MAX_MEMORY_BYTES is more than this process may have: nothing is refused before it is killed",
      );
    }
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Requests, streams and WebSockets under way. */
  get underway(): number {
    const { pendingRequests = 0, pendingWebSockets = 0 } = this.#connections ?? {};
    return pendingRequests + pendingWebSockets;
  }

  /** How many were refused since the start. */
  get refused(): Readonly<Record<OverloadCause, number>> {
    return this.#refused;
  }

  /**
   * To be asked for each request, which the runtime counts already.
   *
   * @throws ApiError 503
   */
  admit(connections: Connections): void {
    this.#connections = connections;
    this.#since_look += 1;
    if (this.#since_look >= this.#look_requests) {
      this.#since_look = 0;
      if (this.#isShortOfConnections()) this.#look();
    }
    if (connections.pendingRequests + connections.pendingWebSockets > this.#allowed) this.#refuse();
  }

  #refuse(): never {
    this.#refused[this.#cause] += 1;
    throw new ApiError("SERVICE_UNAVAILABLE", {
      headers: { "Retry-After": RETRY_AFTER_SECONDS, Connection: "close" },
      cause: new Error(REASONS[this.#cause]),
    });
  }

  #look(): void {
    const before = this.#cause;
    this.#cause = this.#isShortOfMemory()
      ? "memory"
      : this.#isShortOfConnections()
        ? "connections"
        : "requests";
    const { requests_max } = this.#options;
    this.#allowed = this.#cause === "requests" ? requests_max : Math.min(requests_max, RESERVED_REQUESTS);
    if (this.#cause === "memory") this.#relief.endSlowReaders();
    // their clients make new ones when they need them
    if (this.#cause === "connections") this.#connections?.closeIdleConnections();
    if (this.#cause !== before) this.#tell();
  }

  #tell(): void {
    const held = { requests: this.underway };
    if (this.#cause === "memory") {
      this.#log.warn(held, "MAX_MEMORY_BYTES are held: slow readers are ended and requests refused");
    } else if (this.#cause === "connections") {
      this.#log.warn(held, "MAX_CONNECTIONS are open: idle ones are closed and requests refused");
    } else {
      this.#log.info(held, "there is room again: nothing is refused for want of it");
    }
  }

  /** What lies there to be collected is no reason to refuse anything. */
  #isShortOfMemory(): boolean {
    const { memory_bytes_max } = this.#options;
    if (this.#readings.memory_bytes() < memory_bytes_max) return false;
    const now_ms = this.#clock.elapsed_ms();
    if (now_ms - this.#collected_ms >= COLLECT_PAUSE_MS) {
      this.#collected_ms = now_ms;
      this.#readings.collect();
    }
    return this.#readings.memory_bytes() >= memory_bytes_max;
  }

  #isShortOfConnections(): boolean {
    return this.#readings.descriptors() >= this.#options.connections_max;
  }
}

/** After how many requests to look again, where so many descriptors are left beyond the limit of connections. */
function looksEach(room: number): number {
  const requests = Math.floor(room / (LOOKS_IN_ROOM * DESCRIPTORS_OF_REQUEST));
  return Math.min(Math.max(requests, LOOK_REQUESTS_MIN), LOOK_REQUESTS_MAX);
}

const REASONS: Record<OverloadCause, string> = {
  requests: "MAX_REQUESTS_IN_FLIGHT are under way",
  connections: "MAX_CONNECTIONS are open",
  memory: "MAX_MEMORY_BYTES are held",
};
