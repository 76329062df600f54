import { type Clock, Loop, Semaphore } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { addressOf } from "@ostiary/lib/domain/routes";
import {
  type KnownDescription,
  NotADescription,
  type ServiceDescription,
} from "@ostiary/lib/edge-description";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { CurrentTable } from "../lookup/current-table.ts";
import { DescriptionTimeout, type ReceivedDescription, readDescription } from "./read-description.ts";

/** The maximum number of requests in flight to services, and the same number to slow services. */
const CALLS_MAX = 8;
/**
 * The maximum time until a service's response is complete. A service that takes longer is called again as a slow one.
 */
const QUICK_MS = 1_000;
/** The maximum time until the response of a slow service is complete. */
const SLOW_MS = 10_000;
/** The maximum size of all descriptions together. */
const ALL_BYTES_MAX = 64 * 1024 * 1024;
const TOO_LARGE_TOGETHER = "The descriptions of all services are too large together.";
const RETRY_MS = 1_000;
/** The maximum pause between searches for descriptions to read: another replica may have published a service. */
const SEARCH_MS = 5_000;
/** The minimum pause between searches for descriptions to read, because each of many writes wakes the loop. */
const GAP_MS = 100;

/** The state of one service's description. */
interface DescriptionState extends KnownDescription {
  /** The reason of the latest failure, or null after a success and before the first try. */
  readonly failure: string | null;
}

interface Entry {
  url: string;
  /** The incarnation of the service: see {@link CurrentTable.incarnationOf}. */
  incarnation: number | undefined;
  path: string;
  description: ServiceDescription | null;
  bytes: number;
  etag: string | null;
  read_at: string | null;
  failure: DescriptionState["failure"];
  failures: number;
  /** Whether the latest response took longer than {@link QUICK_MS}. Slow services wait only for each other. */
  isSlow: boolean;
  /** The clock's elapsed time at which the next read is due; infinite during a read. */
  dueMs: number;
}

interface ServiceDescriptionsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The time between a successful read of a description and the next request for it. */
  readonly refreshMs: number;
}

/**
 * Reads the OpenAPI descriptions of services in the background. Keeps the last good description of a service until
 * the service is deleted or no longer names a description.
 */
export class ServiceDescriptions {
  readonly #options: ServiceDescriptionsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #calls = new Semaphore(CALLS_MAX);
  readonly #slowCalls = new Semaphore(CALLS_MAX);
  readonly #reading = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #version = 0;

  constructor(options: ServiceDescriptionsOptions) {
    this.#options = options;
  }

  /** A number that grows with each change of {@link states} that the edge description shows. */
  get version(): number {
    return this.#version;
  }

  /** The states by service, in the order of the services' names. */
  get states(): ReadonlyMap<string, DescriptionState> {
    const sorted = [...this.#entries].sort(([one], [other]) => (one < other ? -1 : 1));
    return new Map(sorted.map(([service, entry]) => [service, stateOf(entry)]));
  }

  /**
   * Drops the descriptions of deleted services and of services without an `openapi` path, and starts the due reads.
   * Does not wait for the reads.
   */
  refresh(current: Pick<CurrentTable, "services" | "incarnationOf">): void {
    const { services } = current;
    for (const [service, { incarnation }] of this.#entries) {
      if (services.get(service)?.openapi !== undefined && current.incarnationOf(service) === incarnation)
        continue;
      this.#entries.delete(service);
      this.#version++;
    }
    for (const [service, { url, openapi }] of services) {
      if (openapi === undefined) continue;
      this.#name(service, {
        url: `http://${addressOf(url)}${openapi}`,
        path: openapi,
        incarnation: current.incarnationOf(service),
      });
    }
    const nowMs = this.#options.clock.elapsedMs();
    for (const [service, entry] of this.#entries) {
      if (entry.dueMs <= nowMs) this.#begin(service, entry);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#reading);
  }

  /**
   * Registers the URL of a service's description. If the URL changes, the last good description stays in use until
   * the new URL returns one.
   */
  #name(service: string, named: Pick<Entry, "url" | "path" | "incarnation">): void {
    const known = this.#entries.get(service);
    if (known?.url === named.url) return;
    this.#entries.set(service, {
      ...named,
      description: known?.description ?? null,
      bytes: known?.bytes ?? 0,
      etag: null,
      read_at: known?.read_at ?? null,
      failure: null,
      failures: 0,
      isSlow: known?.isSlow ?? false,
      dueMs: Number.NEGATIVE_INFINITY,
    });
    this.#version++;
  }

  #begin(service: string, entry: Entry): void {
    entry.dueMs = Number.POSITIVE_INFINITY;
    const calls = entry.isSlow ? this.#slowCalls : this.#calls;
    const reading = calls
      .run(async () => {
        // the description may have a new URL by the time that the semaphore admits this read
        if (this.#isCurrent(service, entry)) await this.#read(service, entry);
      })
      .finally(() => this.#reading.delete(reading));
    this.#reading.add(reading);
  }

  #isCurrent(service: string, entry: Entry): boolean {
    return !this.#stopping.signal.aborted && this.#entries.get(service) === entry;
  }

  async #read(service: string, entry: Entry): Promise<void> {
    const { clock, refreshMs } = this.#options;
    const timeoutMs = entry.isSlow ? SLOW_MS : QUICK_MS;
    const startedMs = clock.elapsedMs();
    try {
      const stopping = this.#stopping.signal;
      const read = await readDescription(entry.url, entry.etag, { clock, stopping, timeoutMs });
      if (!this.#isCurrent(service, entry)) return;
      if (read !== null) this.#take(entry, read);
      this.#succeeded(service, entry);
      entry.isSlow = clock.elapsedMs() - startedMs > QUICK_MS;
      entry.dueMs = clock.elapsedMs() + refreshMs;
    } catch (error) {
      if (!this.#isCurrent(service, entry)) return;
      if (error instanceof DescriptionTimeout && !entry.isSlow) {
        entry.isSlow = true;
        this.#begin(service, entry);
        return;
      }
      this.#failed(service, entry, reasonOf(error));
      entry.dueMs = clock.elapsedMs() + Math.min(RETRY_MS * 2 ** (entry.failures - 1), refreshMs);
    }
  }

  /**
   * Takes a description. If all descriptions together become too large, drops the largest ones first, and so never one
   * that is within an equal share of the limit.
   */
  #take(entry: Entry, { description, etag, bytes }: ReceivedDescription): void {
    const others = [...this.#entries].filter(([, other]) => other !== entry);
    const largestFirst = others.sort(([, one], [, other]) => other.bytes - one.bytes);
    let all = others.reduce((sum, [, other]) => sum + other.bytes, bytes);
    const dropped: [string, Entry][] = [];
    for (const [service, other] of largestFirst) {
      if (all <= ALL_BYTES_MAX || other.bytes <= bytes) break;
      all -= other.bytes;
      dropped.push([service, other]);
    }
    if (all > ALL_BYTES_MAX) throw new NotADescription(TOO_LARGE_TOGETHER);
    for (const [service, other] of dropped) {
      Object.assign(other, { description: null, etag: null, bytes: 0 });
      this.#failed(service, other, TOO_LARGE_TOGETHER);
    }
    Object.assign(entry, { description, etag, bytes });
    this.#version++;
  }

  #succeeded(service: string, entry: Entry): void {
    if (entry.failure !== null) {
      this.#options.log.info(
        { route_service: service },
        "the service's OpenAPI description can be read again",
      );
      this.#version++;
    }
    entry.failure = null;
    entry.failures = 0;
    entry.read_at = new Date(this.#options.clock.now()).toISOString();
  }

  #failed(service: string, entry: Entry, reason: string): void {
    if (entry.failure !== reason) {
      this.#options.log.warn(
        { route_service: service, path: entry.path, reason },
        "the registry cannot read the service's OpenAPI description and uses the last good one",
      );
    }
    if (entry.failure === null) this.#version++;
    entry.failure = reason;
    entry.failures++;
  }
}

function stateOf({ description, bytes, read_at, failure }: Entry): DescriptionState {
  const status = description === null ? "missing" : failure === null ? "current" : "stale";
  return { status, description, bytes, read_at, failure };
}

/** Returns a loop that reads the descriptions of current services, periodically and when woken. */
export function watchDescriptions(
  descriptions: ServiceDescriptions,
  current: CurrentTable,
  refreshMs: number,
  clock: Clock,
): Loop {
  const task = async () => {
    await current.read();
    descriptions.refresh(current);
  };
  // a failure needs no report: operations that use the database report it
  return new Loop({
    task,
    pauseMs: Math.min(SEARCH_MS, refreshMs),
    gapMs: GAP_MS,
    retryMs: SEARCH_MS,
    onFailure: () => {},
    clock,
  });
}
