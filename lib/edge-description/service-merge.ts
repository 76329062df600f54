import { isRecord } from "../domain/json/index.ts";
import type { CompiledRoute } from "../domain/routes/index.ts";
import type { JsonObject } from "../openapi/index.ts";
import { edgeOperation, type OperationPlace } from "./edge-operation.ts";
import type { Share } from "./fair-shares.ts";
import { cutCycles } from "./reference-cycles.ts";
import type { FoundOperation, ServiceDescription } from "./service-description.ts";
import { OperationReader } from "./service-operation.ts";
import { ServiceSchemas } from "./service-schemas.ts";
import type { UniqueNames } from "./unique-names.ts";
import { WorkBudget } from "./work-budget.ts";

/** The maximum work for one operation, one component or one search, in units of {@link WorkBudget}. */
const PART_WORK_MAX = 512 * 1024;
/** The characters of an operation that do not count, because the gateway's part of the operation has as many. */
const GATEWAY_CHARACTERS = 2 * 1024;
const TAGS_MAX = 1000;
const TAG_DESCRIPTION_LENGTH_MAX = 16 * 1024;

/** Copies a service's descriptions of its routes into the edge description, within limits on the work. */
export class ServiceMerge {
  readonly #description: ServiceDescription;
  readonly #schemas: ServiceSchemas;
  readonly #reader: OperationReader;
  readonly #work: WorkBudget;
  readonly #components = new Map<string, JsonObject>();
  #charactersLeft: number;
  #left_out = 0;

  constructor(
    service: string,
    description: ServiceDescription,
    { names, share }: { names: UniqueNames; share: Share },
  ) {
    this.#work = new WorkBudget(share.work);
    this.#charactersLeft = share.characters;
    this.#description = description;
    this.#schemas = new ServiceSchemas(service, description, names, this.#work);
    this.#reader = new OperationReader(description, this.#schemas, this.#work);
  }

  get left_out(): number {
    return this.#left_out;
  }

  /** The descriptions of tags, in their order. Undefined for a tag without one, or with one that is too long. */
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

  /** Returns the operation that describes a route, or null also if the search costs too much work. */
  find(route: CompiledRoute): FoundOperation | null {
    const found = this.#within(() => ({ operation: this.#description.find(route, this.#work) }));
    return found?.operation ?? null;
  }

  /** Returns the description of a tag, or undefined if the service's share has no room for it. */
  tagDescription(text: string | undefined): string | undefined {
    return text === undefined || !this.#takes(text.length) ? undefined : text;
  }

  /** Returns the operation of a route as JSON, or null if the operation exceeds the service's share. */
  operation(route: CompiledRoute, found: FoundOperation, place: OperationPlace): string | null {
    const text = this.#within(() => {
      const operation = JSON.stringify(edgeOperation(route, this.#reader.read(found), place));
      return this.#written(operation, operation.length - GATEWAY_CHARACTERS);
    });
    this.#schemas.keep();
    return text;
  }

  /** Copies the schemas that operations reference. A later operation that exceeds the share does not remove them. */
  *copySchemas(): Generator<""> {
    for (let next = this.#schemas.next(); next !== null; next = this.#schemas.next()) {
      const { name, schema } = next;
      const copied = this.#within(() => {
        // The component's name replaces the title of the schema.
        const { title: _, ...converted } = this.#schemas.convert(schema);
        const { length } = JSON.stringify(converted);
        return this.#written(converted, length + name.length);
      });
      this.#schemas.keep();
      this.#components.set(name, copied ?? {});
      yield "";
    }
  }

  /** Yields the members of `components.schemas` as JSON, and an empty text after each other step. */
  *components(): Generator<string> {
    for (const _ of cutCycles(this.#components)) yield "";
    for (const [name, schema] of this.#components) yield `${JSON.stringify(name)}:${JSON.stringify(schema)}`;
  }

  /** Returns `part`, or null if the service's share has no room for its characters. */
  #written<Part>(part: Part, characters: number): Part | null {
    this.#work.spend(Math.max(0, characters));
    return this.#takes(characters) ? part : null;
  }

  /** Takes characters from the service's share. Returns whether the share suffices. */
  #takes(characters: number): boolean {
    const taken = Math.max(0, characters);
    if (taken > this.#charactersLeft) return false;
    this.#charactersLeft -= taken;
    return true;
  }

  #within<Result>(part: () => Result | null): Result | null {
    const result = this.#work.within(PART_WORK_MAX, part);
    if (result !== null) return result;
    this.#schemas.drop();
    this.#left_out++;
    return null;
  }
}
