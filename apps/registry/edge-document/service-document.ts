import { isRecord } from "@ostiary/lib/domain/json";
import { type CompiledRoute, joinPrefix, type Method } from "@ostiary/lib/domain/routes";
import type { JsonObject } from "@ostiary/lib/runtime/http";

/** Paths of one document. */
const PATHS_MAX = 10_000;
/** Different beginnings of its paths, cut at segments: what they cost in memory. */
const SEGMENTS_MAX = 200_000;
/** References that may follow one another. */
const REFERENCES_MAX = 16;

/** Why something that a service answered is not its OpenAPI document. */
export class NotADocument extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "NotADocument";
  }
}

/** How the document of a service that names one was last read. */
export interface KnownDocument {
  /** `stale`: the last good one stands for one that can not be read; `missing`: none was ever read. */
  readonly status: "current" | "stale" | "missing";
  readonly document: ServiceDocument | null;
  /** RFC 3339; null where none was ever read. */
  readonly read_at: string | null;
}

/** An operation of a service's document that serves a route. */
export interface FoundOperation {
  readonly operation: JsonObject;
  /** Of the path and of the operation, which has the last word. */
  readonly parameters: readonly JsonObject[];
  /** The params of the document's path, each with the route's param that it is; null where the gateway fills it in. */
  readonly params: ReadonlyMap<string, string | null>;
}

/** A segment of a path, with `{}` in the place of each placeholder. */
interface Segment<Placeholder> {
  readonly shape: string;
  readonly placeholders: readonly Placeholder[];
}

interface Node {
  readonly children: Map<string, Node>;
  readonly items: { readonly item: JsonObject; readonly segments: readonly Segment<string>[] }[];
}

/**
 * The OpenAPI document of one service, as it came: no part of it is trusted to be what its place says. Only
 * references inside of it are followed.
 */
export class ServiceDocument {
  readonly #root: JsonObject;
  readonly #tree = node();
  #segments = 0;

  /** @throws NotADocument for a value that is no OpenAPI 3 document */
  constructor(value: unknown) {
    if (!isRecord(value)) throw new NotADocument("It is not a JSON object.");
    if (typeof value.swagger === "string") {
      throw new NotADocument("It is of Swagger 2.0: OpenAPI 3.0 and 3.1 are understood.");
    }
    if (typeof value.openapi !== "string" || !/^3\.[0-2]\./.test(value.openapi)) {
      throw new NotADocument("It does not say `openapi: 3.0.x` or `3.1.x`.");
    }
    if (!isRecord(value.paths)) throw new NotADocument("It has no paths.");
    const paths = Object.entries(value.paths);
    if (paths.length > PATHS_MAX) throw new NotADocument(`It has more than ${PATHS_MAX} paths.`);
    this.#root = value;
    const base = basePath(value);
    for (const prefix of base === "" ? [""] : [base, ""]) {
      for (const [path, item] of paths) this.#add(prefix + path, item);
    }
  }

  /** Whether it is of OpenAPI 3.0, whose schemas are not quite JSON Schema. */
  get is30(): boolean {
    return String(this.#root.openapi).startsWith("3.0.");
  }

  /** What it says of a tag, in their order. */
  get tags(): { name: string; description: string | undefined }[] {
    const { tags } = this.#root;
    return (Array.isArray(tags) ? tags : []).flatMap((tag) =>
      isRecord(tag) && typeof tag.name === "string"
        ? [{ name: tag.name, description: typeof tag.description === "string" ? tag.description : undefined }]
        : [],
    );
  }

  /** The operation that serves a route, by the method and path that the gateway calls; null when there is none. */
  find(route: CompiledRoute): FoundOperation | null {
    const segments = upstreamSegments(route);
    const found = this.#find(this.#tree, segments, 0, route.method);
    // HEAD is GET without a body, and seldom described
    if (found !== null || route.method !== "HEAD") return found;
    return this.#find(this.#tree, segments, 0, "GET");
  }

  /** `value`, or what it refers to inside of this document; null when that is no object. */
  resolve(value: unknown): JsonObject | null {
    let current = value;
    for (let followed = 0; followed <= REFERENCES_MAX; followed++) {
      if (!isRecord(current)) return null;
      if (typeof current.$ref !== "string") return current;
      current = this.at(current.$ref);
    }
    return null;
  }

  /** What a reference such as `#/components/schemas/Widget` leads to; undefined where it leads nowhere, or outside. */
  at(ref: string): unknown {
    const pointer = pointerOf(ref);
    if (pointer === null) return undefined;
    let current: unknown = this.#root;
    for (const key of pointer) {
      if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
      current = Reflect.get(current, key);
    }
    return current;
  }

  #add(path: string, item: unknown): void {
    const resolved = this.resolve(item);
    if (resolved === null || !path.startsWith("/")) return;
    const segments = templateSegments(path);
    let at = this.#tree;
    for (const { shape } of segments) {
      at = at.children.get(shape) ?? this.#grow(at, shape);
    }
    at.items.push({ item: resolved, segments });
  }

  #grow({ children }: Node, shape: string): Node {
    this.#segments++;
    if (this.#segments > SEGMENTS_MAX) throw new NotADocument("Its paths have too many segments.");
    const grown = node();
    children.set(shape, grown);
    return grown;
  }

  #find(
    at: Node,
    segments: readonly Segment<string | null>[],
    index: number,
    method: Method,
  ): FoundOperation | null {
    const segment = segments[index];
    if (segment === undefined) return this.#at(at, segments, method);
    // a literal of the route may be one value of a param of the document
    const shapes = segment.placeholders.length > 0 ? [segment.shape] : [segment.shape, "{}"];
    for (const shape of shapes) {
      const next = at.children.get(shape);
      const found = next === undefined ? null : this.#find(next, segments, index + 1, method);
      if (found !== null) return found;
    }
    return null;
  }

  #at({ items }: Node, called: readonly Segment<string | null>[], method: Method): FoundOperation | null {
    for (const { item, segments } of items) {
      const operation = Object.hasOwn(item, method.toLowerCase()) ? item[method.toLowerCase()] : undefined;
      if (!isRecord(operation)) continue;
      const params = segments.flatMap(({ placeholders }, index) =>
        placeholders.map((name, place) => [name, called[index]?.placeholders[place] ?? null] as const),
      );
      return {
        operation,
        parameters: this.#parameters(item.parameters, operation.parameters),
        params: new Map(params),
      };
    }
    return null;
  }

  #parameters(...lists: unknown[]): JsonObject[] {
    const parameters = new Map<string, JsonObject>();
    for (const each of lists.flatMap((list) => (Array.isArray(list) ? list : []))) {
      const parameter = this.resolve(each);
      if (parameter !== null) parameters.set(`${parameter.in} ${parameter.name}`, parameter);
    }
    return [...parameters.values()];
  }
}

function node(): Node {
  return { children: new Map(), items: [] };
}

/** The keys of an internal reference, null for one that leads outside. */
export function pointerOf(ref: string): string[] | null {
  if (!ref.startsWith("#/")) return null;
  try {
    return decodeURIComponent(ref)
      .slice(2)
      .split("/")
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return null;
  }
}

/** What stands before the document's paths, by its first server: `/v1`. */
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

/** The path that the gateway calls for a route; null stands for what it fills in itself. */
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
