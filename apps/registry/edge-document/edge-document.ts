import { inSlices } from "@ostiary/lib/async";
import type { Representation } from "@ostiary/lib/runtime/http";
import type { CurrentTable } from "../lookup/current-table.ts";
import { DocumentBuild } from "./build.ts";
import type { ServiceDocuments } from "./service-documents.ts";

/** How long pieces may be written before everything else has its turn. */
const SLICE_MS = 5;

export interface EdgeDocumentOptions {
  readonly current: CurrentTable;
  readonly documents: ServiceDocuments;
  readonly title: string;
  readonly server_url: string | undefined;
}

/** The OpenAPI document of the edge as of now: made anew when routes, or what services say of them, have changed. */
export class EdgeDocument {
  readonly #options: EdgeDocumentOptions;
  #made: { key: string; representation: Representation } | null = null;
  #making: Promise<void> | null = null;

  constructor(options: EdgeDocumentOptions) {
    this.#options = options;
  }

  /** At least as new as this call. Who calls while it is being made waits with the others. */
  async read(): Promise<Representation> {
    const { current, documents } = this.#options;
    await current.read();
    // what was just published is not shown with the document of what it replaced
    documents.refresh(current.services);
    // what is under way may be older than this call, what follows it is not
    for (let round = 0; round < 2 && this.#made?.key !== this.#key(); round++) {
      this.#making ??= this.#make().finally(() => {
        this.#making = null;
      });
      await this.#making;
    }
    if (this.#made === null) throw new Error("The document of the edge has not been made.");
    return this.#made.representation;
  }

  #key(): string {
    const { current, documents } = this.#options;
    return `${current.fence} ${documents.version}`;
  }

  async #make(): Promise<void> {
    const { current, documents, title, server_url } = this.#options;
    const key = this.#key();
    const { table, services } = current;
    const build = new DocumentBuild({ title, server_url, table, services, documents: documents.states });
    await inSlices(build.steps(), { slice_ms: SLICE_MS });
    this.#made = { key, representation: build.representation };
  }
}
