import {
  type CompiledRoute,
  type RouteTable,
  segmentsOf,
  withoutParamNames,
} from "../domain/routes/index.ts";
import type { OperationPlace } from "./edge-operation.ts";
import type { FoundOperation } from "./service-description.ts";
import type { ServiceMerge } from "./service-merge.ts";
import { pascalCase, UniqueNames } from "./unique-names.ts";

/** A route with its place in the edge description. `found` is the operation with which its service describes it. */
export interface Placed {
  readonly route: CompiledRoute;
  readonly found: FoundOperation | null;
  readonly place: OperationPlace;
}

export interface Tag {
  name: string;
  description?: string;
}

const TAG_LENGTH_MAX = 128;
const OPERATION_ID = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * Sorts routes into the order of the description and resolves conflicts between services. Paths that differ
 * only in the names of params become one path. Operation ids become unique. Equal tags of two services get
 * different names. Yields between short steps.
 */
export function* placeRoutes(
  table: RouteTable,
  merges: ReadonlyMap<string, ServiceMerge>,
  origin: OperationPlace["origin"],
): Generator<"", { placed: Placed[]; tags: Tag[] }> {
  const routes: { route: CompiledRoute; found: FoundOperation | null; shape: string }[] = [];
  /** The path that all routes of a shape share, by shape. It is the first of their paths in text order. */
  const paths = new Map<string, CompiledRoute>();
  const tags = new TagNames();
  for (const route of table.unordered) {
    yield "";
    // The gateway itself responds to OPTIONS.
    if (route.method === "OPTIONS") continue;
    const found = merges.get(route.service)?.find(route) ?? null;
    const shape = withoutParamNames(route.path);
    const first = paths.get(shape);
    if (first === undefined || route.path < first.path) paths.set(shape, route);
    tags.use(route.service, tagOf(route, found));
    routes.push({ route, found, shape });
  }
  const sorted = new Map(
    routes.map((each) => [`${paths.get(each.shape)?.path}\0${each.route.method}`, each]),
  );
  const all = yield* tags.list(merges);
  const wanted = Map.groupBy(
    routes.flatMap(({ found }) => ownId(found) ?? []),
    idKey,
  );
  const unique = new Set([...wanted].flatMap(([, same]) => (same.length === 1 ? same : [])));
  const ids = new UniqueNames(unique, idKey);
  const placed: Placed[] = [];
  for (const key of [...sorted.keys()].sort()) {
    yield "";
    const each = sorted.get(key);
    if (each === undefined) continue;
    const { route, found, shape } = each;
    const { path, params } = paths.get(shape) ?? route;
    const own = ownId(found);
    // A service keeps its own operation id if no other operation has that id.
    const operationId = own !== null && unique.has(own) ? own : ids.take(derivedId(route.method, path));
    const tag = tags.nameOf(route.service, tagOf(route, found));
    placed.push({ route, found, place: { path, params, origin, tag, operationId } });
  }
  return { placed, tags: all };
}

function tagOf(route: CompiledRoute, found: FoundOperation | null): string {
  const [tag] = Array.isArray(found?.operation.tags) ? found.operation.tags : [];
  return typeof tag === "string" && tag.trim() !== "" ? tag.slice(0, TAG_LENGTH_MAX) : route.service;
}

/** The tags of all services. A tag of several services gets the name of the service. */
class TagNames {
  readonly #tags = new Map<string, Set<string>>();
  readonly #names = new Map<string, string>();

  use(service: string, tag: string): void {
    this.#tags.set(service, (this.#tags.get(service) ?? new Set()).add(tag));
  }

  /** Names all tags. Returns them, those of a service in the order of its description. Yields after each service. */
  *list(merges: ReadonlyMap<string, ServiceMerge>): Generator<"", Tag[]> {
    const all: Tag[] = [];
    const names = new UniqueNames([]);
    const users = Map.groupBy(
      [...this.#tags.values()].flatMap((tags) => [...tags]),
      (tag) => tag,
    );
    for (const [service, used] of [...this.#tags].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const merge = merges.get(service);
      const described = merge?.tags ?? new Map<string, string | undefined>();
      for (const tag of new Set(described.keys()).intersection(used).union(used)) {
        const isShared = (users.get(tag) ?? []).length > 1;
        const name = names.take(isShared ? `${tag} (${service})` : tag);
        this.#names.set(keyOf(service, tag), name);
        const description = merge?.tagDescription(described.get(tag));
        all.push({ name, ...(description !== undefined && { description }) });
      }
      yield "";
    }
    return all;
  }

  nameOf(service: string, tag: string): string {
    return this.#names.get(keyOf(service, tag)) ?? tag;
  }
}

function keyOf(service: string, tag: string): string {
  return `${service} ${tag}`;
}

function ownId(found: FoundOperation | null): string | null {
  const id = found?.operation.operationId;
  return typeof id === "string" && OPERATION_ID.test(id) ? id : null;
}

/** Returns the key by which ids must be unique: some client generators ignore case and underscores. */
function idKey(id: string): string {
  return id.replaceAll("_", "").toLowerCase();
}

/** Derives an id from method and path: `GET /org/members/{member_id}` → `getOrgMembersByMemberId`. */
function derivedId(method: string, path: string): string {
  const words = segmentsOf(path).map((segment) =>
    "param" in segment ? `By${pascalCase(segment.param)}` : pascalCase(segment.literal),
  );
  return method.toLowerCase() + (words.join("") || "Root");
}
