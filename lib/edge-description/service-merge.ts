import { isRecord } from "../domain/json/index.ts";
import type { CompiledRoute } from "../domain/routes/index.ts";
import type { JsonObject } from "../openapi/index.ts";
import { type EdgeRoute, edgeOperation, type Place } from "./edge-operation.ts";
import { cutCycles } from "./reference-cycles.ts";
import type { FoundOperation, ServiceDescription } from "./service-description.ts";
import { OperationReader } from "./service-operation.ts";
import { ServiceSchemas } from "./service-schemas.ts";
import type { UniqueNames } from "./unique-names.ts";
import { WorkBudget } from "./work-budget.ts";

/** The maximum work for the description of one service, in units of {@link WorkBudget}. */
const SERVICE_WORK_MAX = 32 * 1024 * 1024;
/** The maximum work for one operation, one component or one search, in units of {@link WorkBudget}. */
const PART_WORK_MAX = 512 * 1024;
/** The maximum number of tags that are copied from a service's description. */
const TAGS_MAX = 1000;
/** The maximum length of a tag's description, in UTF-16 code units. */
const TAG_DESCRIPTION_LENGTH_MAX = 16 * 1024;

/** Copies a service's descriptions of its routes into the edge description, within limits on the work. */
export class ServiceMerge {
  readonly #description: ServiceDescription;
  readonly #schemas: ServiceSchemas;
  readonly #reader: OperationReader;
  readonly #work: WorkBudget;
  #left_out = 0;

  constructor(service: string, description: ServiceDescription, names: UniqueNames, whole: WorkBudget) {
    this.#work = new WorkBudget(SERVICE_WORK_MAX, whole);
    this.#description = description;
    this.#schemas = new ServiceSchemas(service, description, names, this.#work);
    this.#reader = new OperationReader(description, this.#schemas, this.#work);
  }

  /** The number of operations and schemas that were left out because they cost too much work. */
  get left_out(): number {
    return this.#left_out;
  }

  /**
   * The descriptions of tags, in the order of the service's description. The value is undefined if a tag has
   * no description, or one that is too long.
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

  /**
   * Returns the operation that describes a route. Returns null if there is none, or if the search costs too
   * much work.
   */
  find(route: CompiledRoute): FoundOperation | null {
    const found = this.#within(() => ({ operation: this.#description.find(route, this.#work) }));
    return found?.operation ?? null;
  }

  /** Returns the operation of a route as JSON, or null if building the operation costs too much work. */
  operation(edge: EdgeRoute, found: FoundOperation, place: Place): string | null {
    const text = this.#within(() =>
      this.#written(JSON.stringify(edgeOperation(edge, this.#reader.read(found), place))),
    );
    this.#schemas.keep();
    return text;
  }

  /**
   * Yields the members of `components.schemas` that operations use, as JSON. Yields an empty text after a
   * step that produces no member.
   */
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
    for (const _ of cutCycles(components)) yield "";
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
