import { resultInSlices } from "@ostiary/lib/async";
import { edgeDescription } from "@ostiary/lib/edge-description";
import { type Representation, representationOfPieces } from "@ostiary/lib/runtime/http";
import type { CurrentTable } from "../lookup/current-table.ts";
import type { ServiceDescriptions } from "./service-descriptions.ts";

/** The time that a build may block the event loop before other work runs. */
const SLICE_MS = 5;

interface EdgeDescriptionOptions {
  readonly current: CurrentTable;
  readonly descriptions: ServiceDescriptions;
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
    this.#made = { key, representation: await resultInSlices(steps, { sliceMs: SLICE_MS }) };
  }
}
