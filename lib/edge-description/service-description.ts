import { isRecord } from "../domain/json/index.ts";
import { type CompiledRoute, joinPrefix, METHODS } from "../domain/routes/index.ts";
import { type JsonObject, REFERENCE_LENGTH_MAX, valueAt } from "../openapi/index.ts";
import { VALUE_COST, WorkBudget } from "./work-budget.ts";

const PATHS_MAX = 10_000;
/** The maximum length of a path. Longer paths are ignored, because no route has one. */
const PATH_LENGTH_MAX = 4096;
/** The maximum cost of reading all paths. A new path segment costs `SEGMENT_COST` and its length. */
const PATHS_WORK_MAX = 8 * 1024 * 1024;
const SEGMENT_COST = 64;
/** The maximum number of references that are followed one after another. */
const REFERENCES_MAX = 16;

/** The error for a service's response that is not a usable OpenAPI description. */
export class NotADescription extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "NotADescription";
  }
}

export interface KnownDescription {
  /** `stale`: the current description cannot be read, so the last good one is used. `missing`: there is none yet. */
  readonly status: "current" | "stale" | "missing";
  readonly description: ServiceDescription | null;
  readonly bytes: number;
  /** The time of the last successful read (RFC 3339), or null if no read has succeeded yet. */
  readonly read_at: string | null;
}

/** An operation of a service's description that describes a route. */
export interface FoundOperation {
  readonly operation: JsonObject;
  /** The path's `parameters`, which apply to all of its methods. */
  readonly shared: unknown;
  /** The name of the route's param for each param of the described path, or null if the gateway fills it in. */
  readonly params: ReadonlyMap<string, string | null>;
}

/** A path segment. Its shape is its text with `{}` for each placeholder. */
interface Segment<Placeholder> {
  readonly shape: string;
  readonly placeholders: readonly Placeholder[];
}

interface Node {
  readonly children: Map<string, Node>;
  /** The operations by lowercase method, each from the first described path that has the method. */
  readonly operations: Map<string, Described>;
}

interface Described extends Omit<FoundOperation, "params"> {
  readonly segments: readonly Segment<string>[];
}

/** The OpenAPI description of one service, exactly as received: any part can be invalid. */
export class ServiceDescription {
  readonly #root: JsonObject;
  readonly #tree = node();

  private constructor(root: JsonObject) {
    this.#root = root;
  }

  /**
   * Reads a description, and yields after each path.
   *
   * @throws NotADescription for a value that is not an OpenAPI 3 description
   */
  static *read(value: unknown): Generator<void, ServiceDescription> {
    if (!isRecord(value)) throw new NotADescription("The description is not a JSON object.");
    if (typeof value.swagger === "string") {
      throw new NotADescription("The description is Swagger 2.0: use OpenAPI 3.0 or 3.1.");
    }
    if (typeof value.openapi !== "string" || !/^3\.[0-2]\./.test(value.openapi)) {
      throw new NotADescription("The description does not say `openapi: 3.0.x` or `3.1.x`.");
    }
    if (!isRecord(value.paths)) throw new NotADescription("The description has no paths.");
    const paths = Object.entries(value.paths);
    if (paths.length > PATHS_MAX)
      throw new NotADescription(`The description has more than ${PATHS_MAX} paths.`);
    const description = new ServiceDescription(value);
    const work = new WorkBudget(PATHS_WORK_MAX);
    const base = basePath(value);
    for (const prefix of base === "" ? [""] : [base, ""]) {
      for (const [path, item] of paths) {
        const added = work.within(PATHS_WORK_MAX, () => description.#add(prefix + path, item, work));
        if (added === null)
          throw new NotADescription("The paths of the description take too much work to read.");
        yield;
      }
    }
    return description;
  }

  /** Whether the description is OpenAPI 3.0, whose schemas differ from JSON Schema. */
  get is30(): boolean {
    return String(this.#root.openapi).startsWith("3.0.");
  }

  get tags(): unknown {
    return this.#root.tags;
  }

  /** Returns the operation that describes the upstream method and path of a route. */
  find(route: CompiledRoute, work: WorkBudget): FoundOperation | null {
    const segments = upstreamSegments(route);
    const found = this.#find(this.#tree, segments, 0, route.method.toLowerCase(), work);
    // A HEAD operation is rarely described. The description of GET applies to HEAD too.
    if (found !== null || route.method !== "HEAD") return found;
    return this.#find(this.#tree, segments, 0, "get", work);
  }

  /** Follows references inside this description. Returns null if the result is not an object. */
  resolve(value: unknown, work: WorkBudget): JsonObject | null {
    let current = value;
    for (let followed = 0; followed <= REFERENCES_MAX; followed++) {
      if (!isRecord(current)) return null;
      if (typeof current.$ref !== "string") return current;
      current = this.at(current.$ref, work);
    }
    return null;
  }

  /** Returns the target of a reference, or undefined for a broken or external reference. */
  at(ref: string, work: WorkBudget): unknown {
    work.spend(VALUE_COST + Math.min(ref.length, REFERENCE_LENGTH_MAX));
    return valueAt(this.#root, ref);
  }

  #add(path: string, item: unknown, work: WorkBudget): true {
    const resolved = this.resolve(item, work);
    if (resolved === null || path.length > PATH_LENGTH_MAX || !path.startsWith("/")) return true;
    const segments = templateSegments(path);
    let at = this.#tree;
    for (const { shape } of segments) {
      const next = at.children.get(shape) ?? node();
      if (!at.children.has(shape)) work.spend(SEGMENT_COST + shape.length);
      at.children.set(shape, next);
      at = next;
    }
    for (const method of METHODS.map((each) => each.toLowerCase())) {
      const operation = Object.hasOwn(resolved, method) ? resolved[method] : undefined;
      if (!isRecord(operation) || at.operations.has(method)) continue;
      at.operations.set(method, { operation, shared: resolved.parameters, segments });
    }
    return true;
  }

  #find(
    at: Node,
    segments: readonly Segment<string | null>[],
    index: number,
    method: string,
    work: WorkBudget,
  ): FoundOperation | null {
    work.spend(VALUE_COST);
    const segment = segments[index];
    if (segment === undefined) return foundAt(at.operations.get(method), segments);
    // A literal segment of the route may match a param in the description.
    const shapes = segment.placeholders.length > 0 ? [segment.shape] : [segment.shape, "{}"];
    for (const shape of shapes) {
      const next = at.children.get(shape);
      const found = next === undefined ? null : this.#find(next, segments, index + 1, method, work);
      if (found !== null) return found;
    }
    return null;
  }
}

function foundAt(
  described: Described | undefined,
  called: readonly Segment<string | null>[],
): FoundOperation | null {
  if (described === undefined) return null;
  const { operation, shared, segments } = described;
  const params = segments.flatMap(({ placeholders }, index) =>
    placeholders.map((name, place) => [name, called[index]?.placeholders[place] ?? null] as const),
  );
  return { operation, shared, params: new Map(params) };
}

function node(): Node {
  return { children: new Map(), operations: new Map() };
}

/** Returns the path of the description's first server, such as `/v1`, which all described paths follow. */
function basePath({ servers }: JsonObject): string {
  const [server] = Array.isArray(servers) ? servers : [];
  const url = isRecord(server) && typeof server.url === "string" ? server.url : "/";
  const path = joinPrefix(URL.parse(url, "http://service")?.pathname, "/");
  return path === "/" ? "" : path;
}

const PLACEHOLDER = /\{([^{}/]*)\}/g;

function templateSegments(path: string): Segment<string>[] {
  return path
    .slice(1)
    .split("/")
    .map((text) => ({
      shape: text.replace(PLACEHOLDER, "{}"),
      placeholders: [...text.matchAll(PLACEHOLDER)].map(([, name = ""]) => name),
    }));
}

/** Returns the segments of a route's upstream path. A placeholder that the gateway fills in has no name. */
function upstreamSegments({ upstream, path, params }: CompiledRoute): Segment<string | null>[] {
  if (upstream === null) return templateSegments(path);
  const fillings = upstream.flatMap((part) => {
    if (typeof part === "string") return [];
    return "param" in part ? [params[part.param] ?? null] : [null];
  });
  const text = upstream.map((part) => (typeof part === "string" ? part : "{}")).join("");
  return templateSegments(text).map(({ shape, placeholders }) => ({
    shape,
    placeholders: fillings.splice(0, placeholders.length),
  }));
}
