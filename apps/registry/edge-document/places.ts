import { segmentsOf } from "@ostiary/lib/domain/routes";
import type { EdgeRoute, Place } from "./edge-operation.ts";
import type { FoundOperation, KnownDocument } from "./service-document.ts";
import { pascalCase } from "./service-schemas.ts";

/** A route with its place in the document, and what its service says of it. */
export interface Placed {
  readonly edge: EdgeRoute;
  readonly found: FoundOperation | null;
  readonly place: Place;
}

export interface Tag {
  name: string;
  description?: string;
}

interface Described {
  readonly edge: EdgeRoute;
  readonly found: FoundOperation | null;
  readonly path: string;
  readonly params: readonly string[];
  readonly tag: string;
}

const TAG_LENGTH_MAX = 128;
const OPERATION_ID = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * Puts routes in the order of the document, and gives each what must differ from all others: of two paths that are
 * one but for the names of their params the document can have one only, an operation's id is there once, and the
 * tags of two services are never mixed.
 */
export function* placeRoutes(
  edges: readonly EdgeRoute[],
  documents: ReadonlyMap<string, KnownDocument>,
  origin: string,
): Generator<void, { placed: Placed[]; tags: Tag[] }> {
  const sorted = edges.toSorted(byPath);
  yield;
  const shapes = new Map<string, { path: string; params: readonly string[] }>();
  const described: Described[] = [];
  for (const edge of sorted) {
    const { route } = edge;
    const shape = route.path.replace(/\{[^{}]*\}/g, "{}");
    const first = shapes.get(shape) ?? { path: route.path, params: route.params };
    shapes.set(shape, first);
    const found = documents.get(route.service)?.document?.find(route) ?? null;
    described.push({ edge, found, ...first, tag: tagOf(edge, found) });
    yield;
  }
  const tags = new TagNames(described, documents);
  yield;
  const ids = new OperationIds(described);
  const placed: Placed[] = [];
  for (const each of described) {
    const { edge, found, path, params } = each;
    const tag = tags.nameOf(edge.route.service, each.tag);
    placed.push({ edge, found, place: { path, params, origin, tag, operation_id: ids.of(each) } });
    yield;
  }
  // what differed in the names of params only comes to stand together
  placed.sort((one, other) => compare(one.place.path, other.place.path));
  return { placed, tags: tags.all };
}

function byPath({ route: one }: EdgeRoute, { route: other }: EdgeRoute): number {
  return compare(one.path, other.path) || compare(one.method, other.method);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** The first tag of the service's own, else the service. */
function tagOf({ route }: EdgeRoute, found: FoundOperation | null): string {
  const [tag] = Array.isArray(found?.operation.tags) ? found.operation.tags : [];
  return typeof tag === "string" && tag.trim() !== "" ? tag.slice(0, TAG_LENGTH_MAX) : route.service;
}

/** The tags of all services: one that several have says whose it is. */
class TagNames {
  readonly all: Tag[] = [];
  readonly #names = new Map<string, string>();

  constructor(described: readonly Described[], documents: ReadonlyMap<string, KnownDocument>) {
    const used = Map.groupBy(described, ({ edge }) => edge.route.service);
    const services = [...used.keys()].sort();
    const users = new Map<string, Set<string>>();
    for (const { edge, tag } of described) {
      users.set(tag, (users.get(tag) ?? new Set()).add(edge.route.service));
    }
    for (const service of services) {
      const described = new Map(
        documents.get(service)?.document?.tags.map(({ name, description }) => [name, description]),
      );
      const mine = new Set(used.get(service)?.map(({ tag }) => tag));
      // in the order of the service's own document
      const inOrder = [...[...described.keys()].filter((name) => mine.has(name)), ...mine];
      for (const tag of new Set(inOrder)) {
        const name = (users.get(tag)?.size ?? 0) > 1 ? `${tag} (${service})` : tag;
        this.#names.set(`${service} ${tag}`, name);
        const description = described.get(tag);
        this.all.push({ name, ...(description !== undefined && { description }) });
      }
    }
  }

  nameOf(service: string, tag: string): string {
    return this.#names.get(`${service} ${tag}`) ?? tag;
  }
}

/** Ids that no two operations share, also where a generator of clients ignores case and underscores. */
class OperationIds {
  readonly #wanted: ReadonlyMap<string, number>;
  readonly #taken = new Set<string>();

  constructor(described: readonly Described[]) {
    const wanted = new Map<string, number>();
    for (const { found } of described) {
      const id = ownId(found);
      if (id !== null) wanted.set(keyOf(id), (wanted.get(keyOf(id)) ?? 0) + 1);
    }
    this.#wanted = wanted;
    for (const [id, count] of wanted) if (count === 1) this.#taken.add(id);
  }

  /** The service's own where no other operation has it, else one of method and path. */
  of({ edge, found, path }: Described): string {
    const own = ownId(found);
    if (own !== null && this.#wanted.get(keyOf(own)) === 1) return own;
    const derived = derivedId(edge.route.method, path);
    let id = derived;
    for (let count = 2; this.#taken.has(keyOf(id)); count++) id = `${derived}${count}`;
    this.#taken.add(keyOf(id));
    return id;
  }
}

function ownId(found: FoundOperation | null): string | null {
  const id = found?.operation.operationId;
  return typeof id === "string" && OPERATION_ID.test(id) ? id : null;
}

function keyOf(id: string): string {
  return id.replaceAll("_", "").toLowerCase();
}

/** `GET /org/members/{member_id}` → `getOrgMembersByMemberId`. */
function derivedId(method: string, path: string): string {
  const words = segmentsOf(path).map((segment) =>
    "param" in segment ? `By${pascalCase(segment.param)}` : pascalCase(segment.literal),
  );
  return method.toLowerCase() + (words.join("") || "Root");
}
