import { isRecord } from "../domain/json/index.ts";
import type { CompiledRoute } from "../domain/routes/index.ts";
import type { JsonObject } from "../openapi/index.ts";
import { cutCircles } from "./circles.ts";
import { type EdgeRoute, edgeOperation, type Place } from "./edge-operation.ts";
import type { UniqueNames } from "./names.ts";
import type { FoundOperation, ServiceDescription } from "./service-description.ts";
import { OperationReader } from "./service-operation.ts";
import { ServiceSchemas } from "./service-schemas.ts";
import { Work } from "./work.ts";

/** The maximum number of units of {@link Work} for the description of one service. */
const SERVICE_WORK_MAX = 32 * 1024 * 1024;
/** The maximum number of units of {@link Work} for one operation, component or search. */
const PART_WORK_MAX = 512 * 1024;
/** The maximum number of tags whose text comes from a service's description. */
const TAGS_MAX = 1000;
/** The maximum number of characters in the text of one tag. */
const TAG_DESCRIPTION_LENGTH_MAX = 16 * 1024;

/** Copies one service's description of its routes into the edge description, within bounds. */
export class ServiceMerge {
  readonly #description: ServiceDescription;
  readonly #schemas: ServiceSchemas;
  readonly #reader: OperationReader;
  readonly #work: Work;
  #left_out = 0;

  constructor(service: string, description: ServiceDescription, names: UniqueNames, whole: Work) {
    this.#work = new Work(SERVICE_WORK_MAX, whole);
    this.#description = description;
    this.#schemas = new ServiceSchemas(service, description, names, this.#work);
    this.#reader = new OperationReader(description, this.#schemas, this.#work);
  }

  /** The number of operations and schemas that were left out because processing them costs too much. */
  get left_out(): number {
    return this.#left_out;
  }

  /**
   * The descriptions of tags, in the order of the service's own description. The value is undefined for a tag
   * without a description.
   */
  get tags(): ReadonlyMap<string, string | undefined> {
    const { tags } = this.#description;
    const listed = (Array.isArray(tags) ? tags.slice(0, TAGS_MAX) : []).flatMap((tag) => {
      if (!isRecord(tag) || typeof tag.name !== "string") return [];
      const { name, description } = tag;
      const isShown = typeof description === "string" && description.length <= TAG_DESCRIPTION_LENGTH_MAX;
      return [[name, isShown ? description : undefined] as const];
    });
    return new Map(listed);
  }

  /** Returns the service's description of a route, or null if none is found at an allowed cost. */
  find(route: CompiledRoute): FoundOperation | null {
    const found = this.#within(() => ({ operation: this.#description.find(route, this.#work) }));
    return found?.operation ?? null;
  }

  /** Returns the operation of a route as JSON, or null if processing the operation costs too much. */
  operation(edge: EdgeRoute, found: FoundOperation, place: Place): string | null {
    const text = this.#within(() =>
      this.#written(JSON.stringify(edgeOperation(edge, this.#reader.read(found), place))),
    );
    this.#schemas.keep();
    return text;
  }

  /** Yields the members of `components.schemas` that operations use; "" for a step without a member. */
  *components(): Generator<string> {
    const components = new Map<string, JsonObject>();
    for (let next = this.#schemas.next(); next !== null; next = this.#schemas.next()) {
      const { schema } = next;
      // The component's name replaces the title of the schema.
      const { title: _, ...converted } = this.#within(() => this.#schemas.convert(schema)) ?? {};
      this.#schemas.keep();
      components.set(next.name, converted);
      yield "";
    }
    for (const _ of cutCircles(components)) yield "";
    for (const [name, schema] of components) {
      const text = this.#within(() => this.#written(JSON.stringify(schema)));
      yield `${JSON.stringify(name)}:${text ?? "{}"}`;
    }
  }

  #written(text: string): string {
    this.#work.spend(text.length);
    return text;
  }

  #within<Result>(part: () => Result): Result | null {
    const result = this.#work.within(PART_WORK_MAX, part);
    if (result !== null) return result;
    this.#schemas.drop();
    this.#left_out++;
    return null;
  }
}
