import { resultInSlices } from "@ostiary/lib/async";
import { edgeDescription } from "@ostiary/lib/edge-description";
import { type Representation, representationOfPieces } from "@ostiary/lib/runtime/http";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { CurrentTable } from "../lookup/current-table.ts";
import type { ServiceDescriptions } from "./service-descriptions.ts";

/** The time that a build may block the event loop before other work runs. */
const SLICE_MS = 5;

interface EdgeDescriptionOptions {
  readonly current: CurrentTable;
  readonly descriptions: ServiceDescriptions;
  readonly log: Logger;
  readonly title: string;
  readonly serverUrl: string | undefined;
}

/**
 * The current edge description. A read rebuilds it if routes or the descriptions of services have changed.
 */
export class EdgeDescription {
  readonly #options: EdgeDescriptionOptions;
  #made: { key: string; representation: Representation } | null = null;
  #making: Promise<void> | null = null;
  /** The number of left-out parts that was last logged, by service. */
  readonly #told = new Map<string, number>();

  constructor(options: EdgeDescriptionOptions) {
    this.#options = options;
  }

  /** Returns a description that contains every change made before this call. Concurrent calls share a build. */
  async read(): Promise<Representation> {
    const { current, descriptions } = this.#options;
    await current.read();
    // a build in progress may lack a change that was made before this call; the next build lacks none
    for (let round = 0; round < 2; round++) {
      // the routes that a build takes must not get the description of a deleted service
      descriptions.refresh(current);
      if (this.#made?.key === this.#key()) break;
      this.#making ??= this.#make().finally(() => {
        this.#making = null;
      });
      await this.#making;
    }
    if (this.#made === null) throw new Error("The edge description has not been built.");
    return this.#made.representation;
  }

  #key(): string {
    const { current, descriptions } = this.#options;
    return `${current.fence} ${descriptions.version}`;
  }

  async #make(): Promise<void> {
    const { current, descriptions, title, serverUrl } = this.#options;
    const key = this.#key();
    const pieces = edgeDescription({
      title,
      serverUrl,
      table: current.table,
      descriptions: descriptions.states,
    });
    const steps = representationOfPieces(pieces, "application/json");
    const { representation, result: left_out } = await resultInSlices(steps, { sliceMs: SLICE_MS });
    this.#made = { key, representation };
    for (const [service, count] of left_out) this.#tell(service, count);
  }

  /** Logs a warning once for each change in the number of left-out parts. */
  #tell(service: string, count: number): void {
    if (count === (this.#told.get(service) ?? 0)) return;
    this.#told.set(service, count);
    if (count === 0) return;
    this.#options.log.warn(
      { route_service: service, left_out: count },
      "the edge description omits operations or schemas of the service's description that exceed the cost limits",
    );
  }
}
