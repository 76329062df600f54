import type { CompiledRoute } from "./compile.ts";
import { Literals } from "./literals.ts";
import { loneText } from "./lone-text.ts";
import { RequestPath, segmentHash } from "./request-path.ts";
import { METHODS, type Method, SCOPES } from "./schema.ts";

/**
 * A place in the tree. Trees share their nodes: only the edition that made a node changes it, and only until the
 * tree of that edition is taken.
 */
export interface Node {
  readonly edition: number;
  /** The literal that leads here; empty for a param. */
  readonly literal: string;
  readonly hash: number;
  literals: Literals<Node> | null;
  param: Node | null;
  /** Every route of this shape, in the order of precedence: the first of a method serves. */
  claims: readonly CompiledRoute[];
  /** Per method a bit for each number of levels, at least one, down to a route of it; null where none is below. */
  reach: number[] | null;
}

/** Distances of this many levels and more share one bit of `reach`. */
const REACH_MAX = 31;
const METHOD_INDEX: ReadonlyMap<string, number> = new Map(METHODS.map((method, index) => [method, index]));
const NO_CLAIMS: readonly CompiledRoute[] = [];

/**
 * Finds routes in a tree of segments (contract 4, Matching).
 *
 * A walk goes down one level per segment, literal child before param child, and turns back where a branch ends.
 * A branch without a route of the request's method at the request's depth is never entered, so turning back is
 * rare; and as no two places share a node, a walk never visits one twice, whatever the table. The cost follows
 * the depth of the path and not the number of routes.
 */
export class RouteFinder {
  /** Nodes that the latest walk visited: what a match costs. */
  visited = 0;
  /** One walk runs at a time, so one path serves all. */
  readonly #path = new RequestPath();
  #depth = 0;
  #method = "";
  #methodIndex = 0;

  /** The route below `root` that serves `method` on `path`, or null. */
  find(root: Node, method: string, path: string): CompiledRoute | null {
    this.visited = 0;
    const methodIndex = METHOD_INDEX.get(method);
    if (methodIndex === undefined) return null;
    this.#method = method;
    this.#methodIndex = methodIndex;
    this.#depth = this.#path.read(path);
    return this.#depth < 0 ? null : this.#walk(root, 0);
  }

  /** The segments of the path that was looked for last at which `route` has params. */
  paramValues(route: CompiledRoute): string[] {
    return route.paramSegments.map((level) => this.#path.segment(level));
  }

  #walk(node: Node, level: number): CompiledRoute | null {
    this.visited++;
    const left = this.#depth - level;
    if (left === 0) return winnerOf(node, this.#method);
    if (node.literals !== null) {
      const child = node.literals.metBy(this.#path, level);
      if (child !== null && this.#leads(child, left - 1)) {
        const found = this.#walk(child, level + 1);
        if (found !== null) return found;
      }
    }
    if (node.param === null || !this.#leads(node.param, left - 1)) return null;
    return this.#walk(node.param, level + 1);
  }

  #leads(node: Node, levels: number): boolean {
    return levels === 0 ? winnerOf(node, this.#method) !== null : reaches(node, this.#methodIndex, levels);
  }
}

/**
 * Makes trees, each from the one before: a change copies the nodes from the root to its place, once in an
 * edition, and shares all others with the trees that were taken.
 */
export class RouteTree {
  #edition = 1;
  #root = this.#create("");

  /** The tree as it is, which no later change touches. */
  take(): Node {
    this.#edition++;
    return this.#root;
  }

  /** Adds a route, and gives its rivals as {@link rivalsOf} does. */
  insert(route: CompiledRoute): readonly CompiledRoute[] {
    const literals = literalsOf(route);
    const method = METHODS.indexOf(route.method);
    this.#root = this.#own(this.#root);
    let node = this.#root;
    for (const [level, literal] of literals.entries()) {
      node.reach ??= METHODS.map(() => 0);
      node.reach[method] = (node.reach[method] ?? 0) | reachBit(literals.length - level);
      const known = childOf(node, literal);
      const child = known === null ? this.#create(literal) : this.#own(known);
      if (child !== known) setChild(node, child);
      node = child;
    }
    node.claims = node.claims.length === 0 ? [route] : [...node.claims, route].sort(byPrecedence);
    return node.claims.length === 1
      ? node.claims
      : node.claims.filter((claim) => claim.method === route.method);
  }

  /** Takes out a route that was inserted, and the nodes that served it alone. */
  remove(route: CompiledRoute): void {
    this.#root = this.#without(this.#root, literalsOf(route), 0, route);
  }

  /** All routes that claim the shape and method of `route`, which is among them, in the order of precedence. */
  rivalsOf(route: CompiledRoute): readonly CompiledRoute[] {
    let node: Node | null = this.#root;
    for (const literal of literalsOf(route)) node = node === null ? null : childOf(node, literal);
    return (node?.claims ?? []).filter(({ method }) => method === route.method);
  }

  #without(node: Node, literals: readonly string[], level: number, route: CompiledRoute): Node {
    const own = this.#own(node);
    const literal = literals[level];
    if (literal === undefined) {
      own.claims = own.claims.filter((claim) => claim !== route);
      return own;
    }
    const known = childOf(own, literal);
    if (known === null) throw new Error("Only a route that was inserted is removed.");
    const child = this.#without(known, literals, level + 1, route);
    if (isBare(child)) dropChild(own, child);
    else if (child !== known) setChild(own, child);
    forget(own, route.method, literals.length - level);
    return own;
  }

  #create(literal: string): Node {
    return {
      edition: this.#edition,
      literal: loneText(literal),
      hash: segmentHash(literal),
      literals: null,
      param: null,
      claims: NO_CLAIMS,
      reach: null,
    };
  }

  /** `node`, or a copy of one of an earlier edition. */
  #own(node: Node): Node {
    if (node.edition === this.#edition) return node;
    const { literals, reach } = node;
    return {
      ...node,
      edition: this.#edition,
      literals: literals?.copy() ?? null,
      reach: reach?.slice() ?? null,
    };
  }
}

/** Every route that serves below `root`. */
export function* routesBelow(root: Node): Generator<CompiledRoute> {
  for (const [index, claim] of root.claims.entries()) {
    if (root.claims.findIndex(({ method }) => method === claim.method) === index) yield claim;
  }
  for (const child of childrenOf(root)) yield* routesBelow(child);
}

/** The literals along the path of a route; "" for a param. */
function literalsOf({ path }: CompiledRoute): string[] {
  if (path === "/") return [];
  return path
    .slice(1)
    .split("/")
    .map((segment) => (segment.startsWith("{") ? "" : segment));
}

/**
 * The first in name order of the services that claim a shape; inside one the most protected scope, then the first
 * path in text order. Where a route stands in its service says nothing: so one that is put before others leaves
 * them as they are.
 */
export function byPrecedence(a: CompiledRoute, b: CompiledRoute): number {
  if (a.service !== b.service) return a.service < b.service ? -1 : 1;
  if (a.scope !== b.scope) return SCOPES.indexOf(b.scope) - SCOPES.indexOf(a.scope);
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method);
}

function winnerOf(node: Node, method: string): CompiledRoute | null {
  for (const claim of node.claims) if (claim.method === method) return claim;
  return null;
}

function childOf(node: Node, literal: string): Node | null {
  return literal === "" ? node.param : (node.literals?.get(literal, segmentHash(literal)) ?? null);
}

function setChild(node: Node, child: Node): void {
  if (child.literal === "") {
    node.param = child;
    return;
  }
  node.literals ??= new Literals();
  node.literals.set(child);
}

function dropChild(node: Node, child: Node): void {
  if (child.literal === "") node.param = null;
  else node.literals?.delete(child);
  if (node.literals?.size === 0) node.literals = null;
}

function* childrenOf(node: Node): Generator<Node> {
  if (node.param !== null) yield node.param;
  if (node.literals !== null) yield* node.literals;
}

function isBare(node: Node): boolean {
  return node.claims.length === 0 && node.param === null && node.literals === null;
}

function reachBit(levels: number): number {
  return 1 << Math.min(levels, REACH_MAX);
}

function reaches(node: Node, method: number, levels: number): boolean {
  return ((node.reach?.[method] ?? 0) & reachBit(levels)) !== 0;
}

/** Takes out the bit of `levels` unless a child still leads so far down to a route of the method. */
function forget(node: Node, method: Method, levels: number): void {
  const index = METHODS.indexOf(method);
  const below = levels < REACH_MAX ? [levels - 1] : [REACH_MAX - 1, REACH_MAX];
  let isLeaf = true;
  for (const child of childrenOf(node)) {
    isLeaf = false;
    const leads =
      levels === 1 ? winnerOf(child, method) !== null : below.some((each) => reaches(child, index, each));
    if (leads) return;
  }
  if (isLeaf) node.reach = null;
  else if (node.reach !== null) node.reach[index] = (node.reach[index] ?? 0) & ~reachBit(levels);
}
