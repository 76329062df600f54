import type { JsonObject } from "@ostiary/lib/runtime/http";
import { cutCircles } from "./circles.ts";
import { type EdgeRoute, edgeOperation, type Place } from "./edge-operation.ts";
import type { FoundOperation, ServiceDocument } from "./service-document.ts";
import { OperationReader } from "./service-operation.ts";
import { type ComponentNames, ServiceSchemas } from "./service-schemas.ts";

/** What one operation, and all of one service, may take of the document; beyond that the gateway's part stands alone. */
const OPERATION_BYTES_MAX = 256 * 1024;
const SERVICE_BYTES_MAX = 8 * 1024 * 1024;

/** Takes over what one service's document says of its routes, within bounds. */
export class ServiceMerge {
  readonly #schemas: ServiceSchemas;
  readonly #reader: OperationReader;
  #bytes = 0;
  #left_out = 0;

  constructor(service: string, document: ServiceDocument, names: ComponentNames) {
    this.#schemas = new ServiceSchemas(service, document, names);
    this.#reader = new OperationReader(document, this.#schemas);
  }

  /** How many routes are without the service's words, since those were too long. */
  get left_out(): number {
    return this.#left_out;
  }

  /** The operation of a route; null where there is no room for it. */
  operation(edge: EdgeRoute, found: FoundOperation, place: Place): string | null {
    const text = this.#isFull ? "" : JSON.stringify(edgeOperation(edge, this.#reader.read(found), place));
    this.#bytes += text.length;
    if (text.length > OPERATION_BYTES_MAX || this.#isFull) {
      this.#schemas.drop();
      this.#left_out++;
      return null;
    }
    this.#schemas.keep();
    return text;
  }

  get #isFull(): boolean {
    return this.#bytes > SERVICE_BYTES_MAX;
  }

  /** The members of `components.schemas` that the operations use, in steps; null for a step without one. */
  *components(): Generator<string | null> {
    const components = new Map<string, JsonObject>();
    for (const [name, schema] of this.#schemas.components()) {
      components.set(name, schema);
      yield null;
    }
    for (const _ of cutCircles(components)) yield null;
    for (const [name, schema] of components) {
      const text = this.#isFull ? "" : JSON.stringify(schema);
      this.#bytes += text.length;
      yield `${JSON.stringify(name)}:${this.#isFull ? "{}" : text}`;
    }
  }
}
