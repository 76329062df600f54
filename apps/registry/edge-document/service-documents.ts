import { type Clock, Loop, Semaphore } from "@ostiary/lib/async";
import { addressOf, type StoredServiceConfig } from "@ostiary/lib/domain/routes";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { CurrentTable } from "../lookup/current-table.ts";
import { type ReadDocument, readDocument } from "./read-document.ts";
import { type KnownDocument, NotADocument, type ServiceDocument } from "./service-document.ts";

/** Calls that are under way at a time. */
const CALLS_MAX = 8;
/** All documents together, as text. */
const ALL_BYTES_MAX = 64 * 1024 * 1024;
const RETRY_MS = 1_000;
/** How often is looked what is due, at the latest: another replica may have published something. */
const LOOK_MS = 5_000;
/** Between two looks, however often it is woken: one write may be of many services. */
const GAP_MS = 100;

/** What is known of one service's document. */
export interface DocumentState extends KnownDocument {
  readonly service: string;
  readonly path: string;
  /** Why the latest try failed, and when (RFC 3339); null when it did not, or was not made yet. */
  readonly failure: { readonly at: string; readonly reason: string } | null;
}

interface Entry {
  url: string;
  path: string;
  document: ServiceDocument | null;
  bytes: number;
  etag: string | null;
  read_at: string | null;
  failure: DocumentState["failure"];
  failures: number;
  /** By the clock's elapsed time; infinite while it is being read. */
  due_ms: number;
}

export interface ServiceDocumentsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** How often a document that was read is asked for again. */
  readonly refresh_ms: number;
}

/**
 * The OpenAPI documents that services serve of themselves, read in the background. The last good one of each is
 * kept for as long as the service names one.
 */
export class ServiceDocuments {
  readonly #options: ServiceDocumentsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #calls = new Semaphore(CALLS_MAX);
  readonly #reading = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #version = 0;

  constructor(options: ServiceDocumentsOptions) {
    this.#options = options;
  }

  /** Another one whenever {@link states} has changed in what the document of the edge shows. */
  get version(): number {
    return this.#version;
  }

  /** By service, in the order of their names. */
  get states(): ReadonlyMap<string, DocumentState> {
    const sorted = [...this.#entries].sort(([one], [other]) => (one < other ? -1 : 1));
    return new Map(sorted.map(([service, entry]) => [service, stateOf(service, entry)]));
  }

  /** Begins to read what is due of the services that are current. Does not wait for any of them. */
  refresh(services: ReadonlyMap<string, StoredServiceConfig>): void {
    for (const service of this.#entries.keys()) {
      if (services.get(service)?.openapi !== undefined) continue;
      this.#entries.delete(service);
      this.#version++;
    }
    for (const [service, { url, openapi }] of services) {
      if (openapi !== undefined) this.#name(service, `http://${addressOf(url)}${openapi}`, openapi);
    }
    const now_ms = this.#options.clock.elapsed_ms();
    for (const [service, entry] of this.#entries) {
      if (entry.due_ms <= now_ms) this.#begin(service, entry);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#reading);
  }

  /** The last good document stays when a service moves, until the new address has answered. */
  #name(service: string, url: string, path: string): void {
    const known = this.#entries.get(service);
    if (known?.url === url) return;
    this.#entries.set(service, {
      url,
      path,
      document: known?.document ?? null,
      bytes: known?.bytes ?? 0,
      etag: null,
      read_at: known?.read_at ?? null,
      failure: null,
      failures: 0,
      due_ms: Number.NEGATIVE_INFINITY,
    });
    this.#version++;
  }

  #begin(service: string, entry: Entry): void {
    entry.due_ms = Number.POSITIVE_INFINITY;
    const reading = this.#calls
      .run(async () => {
        // the service may have moved while others were read
        if (this.#isCurrent(service, entry)) await this.#read(service, entry);
      })
      .finally(() => this.#reading.delete(reading));
    this.#reading.add(reading);
  }

  #isCurrent(service: string, entry: Entry): boolean {
    return !this.#stopping.signal.aborted && this.#entries.get(service) === entry;
  }

  async #read(service: string, entry: Entry): Promise<void> {
    const { clock, refresh_ms } = this.#options;
    try {
      const read = await readDocument(entry.url, entry.etag, {
        clock,
        stopping: this.#stopping.signal,
      });
      if (!this.#isCurrent(service, entry)) return;
      if (read !== null) this.#take(entry, read);
      this.#succeeded(service, entry);
      entry.due_ms = clock.elapsed_ms() + refresh_ms;
    } catch (error) {
      if (!this.#isCurrent(service, entry)) return;
      this.#failed(service, entry, error instanceof NotADocument ? error.message : String(error));
      entry.due_ms = clock.elapsed_ms() + Math.min(RETRY_MS * 2 ** (entry.failures - 1), refresh_ms);
    }
  }

  #take(entry: Entry, { document, etag, bytes }: ReadDocument): void {
    let all = bytes - entry.bytes;
    for (const each of this.#entries.values()) all += each.bytes;
    if (all > ALL_BYTES_MAX) throw new NotADocument("The documents of all services are too large together.");
    Object.assign(entry, { document, etag, bytes });
    this.#version++;
  }

  #succeeded(service: string, entry: Entry): void {
    if (entry.failure !== null) {
      this.#options.log.info({ route_service: service }, "the service's OpenAPI document can be read again");
      this.#version++;
    }
    entry.failure = null;
    entry.failures = 0;
    entry.read_at = this.#now();
  }

  #failed(service: string, entry: Entry, reason: string): void {
    if (entry.failure?.reason !== reason) {
      this.#options.log.warn(
        { route_service: service, path: entry.path, reason },
        "the service's OpenAPI document can not be read: the last good one stays",
      );
    }
    if (entry.failure === null) this.#version++;
    entry.failure = { at: this.#now(), reason };
    entry.failures++;
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}

function stateOf(service: string, { path, document, read_at, failure }: Entry): DocumentState {
  const status = document === null ? "missing" : failure === null ? "current" : "stale";
  return { service, path, status, document, read_at, failure };
}

/** Reads the documents of the services that are current, now and then and when it is woken. */
export function watchDocuments(
  documents: ServiceDocuments,
  current: CurrentTable,
  refresh_ms: number,
  clock: Clock,
): Loop {
  const task = async () => {
    await current.read();
    documents.refresh(current.services);
  };
  // that the database is away is told by what can not be done without it
  return new Loop({
    task,
    pause_ms: Math.min(LOOK_MS, refresh_ms),
    gap_ms: GAP_MS,
    retry_ms: LOOK_MS,
    onFailure: () => {},
    clock,
  });
}
