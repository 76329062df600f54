import type { CompiledRoute } from "./compile.ts";
import { PATH_BYTES_MAX } from "./limits.ts";
import { type Segment, segmentsOf } from "./path.ts";
import { segmentEnds, withLowerCaseEscapes } from "./request-path.ts";
import { METHODS } from "./schema.ts";

/** A place in the tree. `reach` has, per method, a bit for each number of levels down to a route of it. */
interface Node {
  literals: Map<string, Node> | null;
  param: Node | null;
  readonly routes: (CompiledRoute | null)[];
  readonly reach: number[];
}

/** Distances of this many levels and more share one bit of `reach`. */
const REACH_MAX = 31;
const METHOD_INDEX: ReadonlyMap<string, number> = new Map(METHODS.map((method, index) => [method, index]));

/**
 * Routes in a tree of segments (contract 4, Matching).
 *
 * A walk goes down one level per segment, literal child before param child, and turns back where a branch ends.
 * A branch without a route of the request's method at the request's depth is never entered, so turning back is
 * rare; and as no two places share a node, a walk never visits one twice, whatever the table. The cost follows
 * the depth of the path and not the number of routes.
 */
export class RouteTree {
  /** Nodes that the latest walk visited: what a match costs. */
  visited = 0;
  readonly #root = createNode();
  /** Where the segments of the path at hand end. One walk runs at a time, so one buffer serves all. */
  readonly #ends = new Uint32Array(PATH_BYTES_MAX / 2);

  /** Adds a route, unless one of its method and shape is there: that one is returned, and stays. */
  insert(route: CompiledRoute): CompiledRoute | null {
    const segments = segmentsOf(route.path);
    const method = METHODS.indexOf(route.method);
    const nodes = [this.#root];
    for (const segment of segments) nodes.push(childOf(nodes[nodes.length - 1] ?? this.#root, segment));
    const leaf = nodes[segments.length] ?? this.#root;
    const holder = leaf.routes[method] ?? null;
    if (holder !== null) return holder;
    leaf.routes[method] = route;
    for (const [level, node] of nodes.entries()) {
      node.reach[method] = (node.reach[method] ?? 0) | reachBit(segments.length - level);
    }
    return null;
  }

  /** The route that serves `method` on `path`, or null. */
  find(method: string, path: string): CompiledRoute | null {
    this.visited = 0;
    const methodIndex = METHOD_INDEX.get(method);
    if (methodIndex === undefined) return null;
    const depth = segmentEnds(path, this.#ends);
    return depth < 0 ? null : this.#walk(this.#root, path, 0, depth, methodIndex);
  }

  /** The segments of `path`, found last, at which `route` has params. */
  paramValues(route: CompiledRoute, path: string): string[] {
    return route.paramSegments.map((level) => this.#segment(path, level));
  }

  #walk(node: Node, path: string, level: number, depth: number, method: number): CompiledRoute | null {
    this.visited++;
    if (level === depth) return node.routes[method] ?? null;
    const bit = reachBit(depth - level - 1);
    if (node.literals !== null) {
      const child = node.literals.get(withLowerCaseEscapes(this.#segment(path, level)));
      if (child !== undefined && leads(child, method, bit)) {
        const found = this.#walk(child, path, level + 1, depth, method);
        if (found !== null) return found;
      }
    }
    if (node.param === null || !leads(node.param, method, bit)) return null;
    return this.#walk(node.param, path, level + 1, depth, method);
  }

  #segment(path: string, level: number): string {
    const start = level === 0 ? 1 : (this.#ends[level - 1] ?? 0) + 1;
    return path.slice(start, this.#ends[level]);
  }
}

function createNode(): Node {
  return { literals: null, param: null, routes: METHODS.map(() => null), reach: METHODS.map(() => 0) };
}

function childOf(node: Node, segment: Segment): Node {
  if ("param" in segment) {
    node.param ??= createNode();
    return node.param;
  }
  node.literals ??= new Map();
  const known = node.literals.get(segment.literal);
  if (known !== undefined) return known;
  const child = createNode();
  node.literals.set(segment.literal, child);
  return child;
}

function reachBit(levels: number): number {
  return 1 << Math.min(levels, REACH_MAX);
}

function leads(node: Node, method: number, bit: number): boolean {
  return ((node.reach[method] ?? 0) & bit) !== 0;
}
