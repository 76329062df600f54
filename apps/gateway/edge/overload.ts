import { type Clock, Loop } from "@ostiary/lib/async";
import { overloaded } from "@ostiary/lib/domain/errors";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { ProcessReadings } from "./process-readings.ts";

export interface OverloadOptions {
  readonly requestsMax: number;
  /** 0 means three quarters of the descriptors that the process may open. */
  readonly connectionsMax: number;
  /** 0 means three quarters of the memory that the process may use. */
  readonly memoryBytesMax: number;
}

type OverloadCause = "requests" | "connections" | "memory";

/** The connections of a port, as the runtime counts them. */
type Connections = Pick<
  Bun.Server<unknown>,
  "pendingRequests" | "pendingWebSockets" | "closeIdleConnections"
>;

interface Relief {
  endSlowReaders(): void;
  closeIdle(): void;
}

const CHECK_MS = 100;
/** The requests between two checks. In 100 ms, a burst of buffered bodies can use up all memory. */
const CHECK_REQUESTS_MAX = 128;
const CHECK_REQUESTS_MIN = 16;
/** The number of checks while new requests use up the descriptors above MAX_CONNECTIONS. */
const CHECKS_IN_ROOM = 4;
/** The number of descriptors that one request may open: one for its client and one for its service. */
const DESCRIPTORS_OF_REQUEST = 2;
/** Requests admitted under any pressure, since resources that cannot be freed would block all requests. */
const RESERVED_REQUESTS = 100;
/** The default maximum as a fraction of the system's limit. The rest absorbs growth between two checks. */
const SHARE = 0.75;
const COLLECT_PAUSE_MS = 2_000;

/**
 * Refuses requests before the process runs out of memory or descriptors (GW-151). A refused request gets a
 * 503, and its connection is closed. Memory and descriptors are read ten times a second, and after at most
 * 128 requests. Between two readings, a request costs a few comparisons.
 */
export class Overload {
  readonly #options: OverloadOptions;
  readonly #readings: ProcessReadings;
  readonly #relief: Relief;
  readonly #log: Pick<Logger, "info" | "warn">;
  readonly #clock: Clock;
  readonly #loop: Loop;
  readonly #refused: Record<OverloadCause, number> = { requests: 0, connections: 0, memory: 0 };
  readonly refused: Readonly<Record<OverloadCause, number>> = this.#refused;
  readonly #requestsPerCheck: number;
  #cause: OverloadCause = "requests";
  #allowed: number;
  #collectedMs = Number.NEGATIVE_INFINITY;
  #sinceCheck = 0;
  /** The connections that the last call of {@link admit} received. */
  #connections: Connections | null = null;
  #isCrowded = false;

  constructor(
    options: OverloadOptions,
    readings: ProcessReadings,
    relief: Relief,
    log: Pick<Logger, "info" | "warn">,
    clock: Clock,
  ) {
    const { connectionsMax, memoryBytesMax } = options;
    this.#options = {
      ...options,
      connectionsMax: connectionsMax || Math.floor(readings.descriptorsMax * SHARE),
      memoryBytesMax: memoryBytesMax || Math.floor(readings.memoryBytesMax * SHARE),
    };
    this.#requestsPerCheck = requestsPerCheck(readings.descriptorsMax - this.#options.connectionsMax);
    this.#readings = readings;
    this.#relief = relief;
    this.#log = log;
    this.#clock = clock;
    this.#allowed = options.requestsMax;
    this.#loop = new Loop({
      task: async () => this.#check(),
      pauseMs: CHECK_MS,
      retryMs: CHECK_MS,
      onFailure: () => {},
      clock,
    });
  }

  start(): void {
    this.#warnOfUnreachableLimits();
    this.#loop.start();
  }

  /** Warns about configured maximums that the process cannot reach, because the system's limit is lower. */
  #warnOfUnreachableLimits(): void {
    const { connectionsMax, memoryBytesMax } = this.#options;
    const { descriptorsMax, memoryBytesMax: memoryBytes } = this.#readings;
    if (connectionsMax > descriptorsMax) {
      this.#log.warn(
        { connections_max: connectionsMax, descriptors_max: descriptorsMax },
        "MAX_CONNECTIONS is above the limit of open files of this process: lower MAX_CONNECTIONS or raise the limit",
      );
    }
    if (memoryBytesMax > memoryBytes) {
      this.#log.warn(
        { memory_bytes_max: memoryBytesMax, memory_bytes: memoryBytes },
        "MAX_MEMORY_BYTES is above the memory of the container or machine: lower MAX_MEMORY_BYTES or add memory",
      );
    }
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  get underway(): number {
    const { pendingRequests = 0, pendingWebSockets = 0 } = this.#connections ?? {};
    return pendingRequests + pendingWebSockets;
  }

  /** Whether more than half of the allowed requests were in flight when the latest request arrived. */
  get isCrowded(): boolean {
    return this.#isCrowded;
  }

  /**
   * Admits a request that is already included in the counts of `connections`. Called for every request.
   *
   * @throws ApiError 503 if a maximum is reached
   */
  admit(connections: Connections): void {
    this.#connections = connections;
    this.#sinceCheck += 1;
    if (this.#sinceCheck >= this.#requestsPerCheck) {
      this.#sinceCheck = 0;
      if (this.#isPastConnections() || this.#isPastMemory()) this.#check();
    }
    const underway = connections.pendingRequests + connections.pendingWebSockets;
    this.#isCrowded = underway * 2 > this.#options.requestsMax;
    if (underway > this.#allowed) this.#refuse();
  }

  #refuse(): never {
    this.#refused[this.#cause] += 1;
    throw overloaded(REASONS[this.#cause]);
  }

  #check(): void {
    const before = this.#cause;
    this.#cause = this.#isShortOfMemory()
      ? "memory"
      : this.#isShortOfConnections()
        ? "connections"
        : "requests";
    const { requestsMax } = this.#options;
    this.#allowed = this.#cause === "requests" ? requestsMax : Math.min(requestsMax, RESERVED_REQUESTS);
    if (this.#cause === "memory") this.#relief.endSlowReaders();
    if (this.#cause !== before) this.#logCause();
  }

  #logCause(): void {
    const held = { requests: this.underway };
    if (this.#cause === "memory") {
      this.#log.warn(
        held,
        "MAX_MEMORY_BYTES is reached: the gateway cuts off slow readers and refuses requests",
      );
    } else if (this.#cause === "connections") {
      this.#log.warn(
        held,
        "MAX_CONNECTIONS is reached: the gateway closes idle connections and refuses requests",
      );
    } else {
      this.#log.info(held, "load is below every maximum again: the gateway no longer refuses requests");
    }
  }

  /** Returns whether memory is short even after a garbage collection, which runs at most every 2 s. */
  #isShortOfMemory(): boolean {
    if (!this.#isPastMemory()) return false;
    const nowMs = this.#clock.elapsedMs();
    if (nowMs - this.#collectedMs >= COLLECT_PAUSE_MS) {
      this.#collectedMs = nowMs;
      this.#readings.collect();
    }
    return this.#isPastMemory();
  }

  #isPastMemory(): boolean {
    return this.#readings.memoryBytes() >= this.#options.memoryBytesMax;
  }

  /** Returns whether connections are short even without the idle ones. Clients and pools open new ones when needed. */
  #isShortOfConnections(): boolean {
    if (!this.#isPastConnections()) return false;
    this.#relief.closeIdle();
    this.#connections?.closeIdleConnections();
    return this.#isPastConnections();
  }

  #isPastConnections(): boolean {
    return this.#readings.descriptors() >= this.#options.connectionsMax;
  }
}

/** Returns the number of requests between two checks. `room` is the number of descriptors above MAX_CONNECTIONS. */
function requestsPerCheck(room: number): number {
  const requests = Math.floor(room / (CHECKS_IN_ROOM * DESCRIPTORS_OF_REQUEST));
  return Math.min(Math.max(requests, CHECK_REQUESTS_MIN), CHECK_REQUESTS_MAX);
}

const REASONS: Record<OverloadCause, string> = {
  requests: "MAX_REQUESTS_IN_FLIGHT is reached",
  connections: "MAX_CONNECTIONS is reached",
  memory: "MAX_MEMORY_BYTES is reached",
};
