import { flatString } from "./compact.ts";
import type { CompiledRoute } from "./compile-service.ts";
import { foldedSegment } from "./folded-segment.ts";
import { LiteralChildren } from "./literal-children.ts";
import { RequestPath, segmentHash } from "./request-path.ts";
import { segmentsOf } from "./route-path.ts";
import { METHODS, type Method, SCOPES } from "./service-schema.ts";

/**
 * A node of the tree. Trees share nodes, so a node is immutable once {@link RouteTree.take} has returned a tree
 * that contains it.
 */
export interface Node {
  readonly edition: number;
  /** The folded form of the node's literal, or an empty string for a param. */
  readonly folded: string;
  readonly hash: number;
  /** The literal as written in the paths of the routes, if all of them write it in the same way. */
  literal: string;
  /** The number of routes at or below this node by the spelling of the literal, if there are several spellings. */
  spellings: Map<string, number> | null;
  literals: LiteralChildren<Node> | null;
  param: Node | null;
  /** All routes of this shape in order of precedence. The first route of each method is served. */
  claims: readonly CompiledRoute[];
  /** The first of `claims`. Most requests read this field instead of the list. */
  first: CompiledRoute | null;
  /**
   * A bitmask for each method. Bit n is set if a route of the method is n levels below this node; n is at
   * least one. Null if there is no route below this node.
   */
  reach: number[] | null;
}

/**
 * The maximum number of nodes that a walk visits. Routes with few branches need little more than one node for
 * each segment. Routes with a literal and a param at each of n levels can have 2^n branches.
 */
export const MATCH_STEPS_MAX = 1_024;
/** The highest bit of `reach`, which also stands for all greater distances. */
const REACH_MAX = 31;
const METHOD_INDEX: ReadonlyMap<string, number> = new Map(METHODS.map((method, index) => [method, index]));
const NO_CLAIMS: readonly CompiledRoute[] = [];

/**
 * Finds routes in a tree of segments (GW-14).
 *
 * A walk goes down one level for each segment. A walk tries the literal child before the param child, and
 * backtracks where a branch ends. At a node with a literal and a param child, the walk enters only branches
 * with a route of the request's method and depth. Backtracking is therefore rare. A walk never visits a node
 * twice, and visits at most {@link MATCH_STEPS_MAX} nodes (GW-18).
 *
 * A walk compares folded forms, so it finds the route that serves the plain spelling of the path. It ends
 * without a route where the path writes a literal in another way (GW-206, GW-207).
 */
export class RouteFinder {
  /** The reader of the path. All walks share it, because only one walk runs at a time. */
  readonly #path = new RequestPath();
  #depth = 0;
  #method = "";
  #methodIndex = 0;
  #steps = 0;
  #isRefused = false;
  /** Whether the walk has entered a node with several spellings. */
  #isAmbiguous = false;

  /** Returns the route below `root` that serves `method` on `path`, or null. */
  find(root: Node, method: string, path: string): CompiledRoute | null {
    const methodIndex = METHOD_INDEX.get(method);
    if (methodIndex === undefined) return null;
    this.#method = method;
    this.#methodIndex = methodIndex;
    this.#depth = this.#path.read(path);
    if (this.#depth < 0) return null;
    this.#steps = 0;
    this.#isRefused = false;
    this.#isAmbiguous = false;
    const route = this.#walk(root, 0);
    return route !== null && this.#isAmbiguous && !this.#isWrittenLike(route) ? null : route;
  }

  /** The number of nodes that the latest walk visited. */
  get steps(): number {
    return this.#steps;
  }

  /** Whether the latest walk ended because the path misspells a literal, or because it visited too many nodes. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Returns the segments of the latest path that match the params of `route`. */
  paramValues(route: CompiledRoute): string[] {
    return route.paramSegments.map((level) => this.#path.segment(level));
  }

  #walk(node: Node, level: number): CompiledRoute | null {
    if (this.#steps === MATCH_STEPS_MAX) return this.#refuse();
    this.#steps++;
    const left = this.#depth - level;
    if (left === 0) return winnerOf(node, this.#method);
    const literal = node.literals === null ? null : node.literals.foldedLike(this.#path, level);
    if (literal !== null && this.#isWritten(literal, level)) {
      // Without a param child there is no alternative to this branch, so its reach does not matter.
      if (node.param === null) return this.#walk(literal, level + 1);
      if (this.#leads(literal, left - 1)) {
        const found = this.#walk(literal, level + 1);
        if (found !== null || this.#isRefused) return found;
      }
    } else if (literal !== null && this.#leads(literal, left - 1)) {
      return this.#refuse();
    }
    if (node.param === null || !this.#leads(node.param, left - 1)) return null;
    return this.#walk(node.param, level + 1);
  }

  #refuse(): null {
    this.#isRefused = true;
    return null;
  }

  /** Returns whether a segment of the path, whose folded form is that of a literal, is written like the literal. */
  #isWritten({ folded, literal, spellings }: Node, level: number): boolean {
    if (spellings === null) {
      return (this.#path.isFolded && literal === folded) || this.#path.isWritten(level, literal);
    }
    this.#isAmbiguous = true;
    return spellings.keys().some((spelling) => this.#path.isWritten(level, spelling));
  }

  #isWrittenLike(route: CompiledRoute): boolean {
    return literalsOf(route).every(
      (literal, level) => literal === "" || this.#path.isWritten(level, literal),
    );
  }

  #leads(node: Node, levels: number): boolean {
    return levels === 0 ? winnerOf(node, this.#method) !== null : reaches(node, this.#methodIndex, levels);
  }
}

/**
 * Builds trees, each from the previous one. All changes between two calls of {@link take} belong to one
 * edition. A change copies the nodes from the root to the changed node, at most once in each edition. All
 * other nodes are shared with earlier trees.
 */
export class RouteTree {
  #edition = 1;
  #root = this.#create("", "");

  /** Returns the current tree. Later changes do not affect the returned tree. */
  take(): Node {
    this.#edition++;
    return this.#root;
  }

  /** Returns a builder that starts from the current tree. Neither builder changes the trees of the other one. */
  fork(): RouteTree {
    const fork = new RouteTree();
    fork.#root = this.take();
    fork.#edition = this.#edition;
    return fork;
  }

  /** Adds a route. Returns its rivals, like {@link rivalsOf}. */
  insert(route: CompiledRoute): readonly CompiledRoute[] {
    const literals = literalsOf(route);
    const method = METHODS.indexOf(route.method);
    this.#root = this.#own(this.#root);
    let node = this.#root;
    for (const [level, literal] of literals.entries()) {
      node.reach ??= METHODS.map(() => 0);
      node.reach[method] = (node.reach[method] ?? 0) | reachBit(literals.length - level);
      const folded = foldedSegment(literal);
      const known = childOf(node, folded);
      const child = known === null ? this.#create(folded, literal) : this.#own(known);
      if (child !== known) setChild(node, child);
      countSpelling(child, literal);
      node = child;
    }
    setClaims(node, node.claims.length === 0 ? [route] : [...node.claims, route].sort(byPrecedence));
    return node.claims.length === 1
      ? node.claims
      : node.claims.filter((claim) => claim.method === route.method);
  }

  /** Removes a route that was inserted, and the nodes that only this route needed. */
  remove(route: CompiledRoute): void {
    this.#root = this.#without(this.#root, literalsOf(route), 0, route);
  }

  /** Returns all routes with the shape and method of `route`, `route` included, in order of precedence. */
  rivalsOf(route: CompiledRoute): readonly CompiledRoute[] {
    let node: Node | null = this.#root;
    for (const literal of literalsOf(route)) node = node && childOf(node, foldedSegment(literal));
    return (node?.claims ?? []).filter(({ method }) => method === route.method);
  }

  #without(node: Node, literals: readonly string[], level: number, route: CompiledRoute): Node {
    const own = this.#own(node);
    const literal = literals[level];
    if (literal === undefined) {
      setClaims(
        own,
        own.claims.filter((claim) => claim !== route),
      );
      return own;
    }
    const known = childOf(own, foldedSegment(literal));
    if (known === null) throw new Error("Cannot remove a route that was not inserted.");
    const child = this.#without(known, literals, level + 1, route);
    forgetSpelling(child, literal);
    if (isBare(child)) dropChild(own, child);
    else if (child !== known) setChild(own, child);
    forget(own, route.method, literals.length - level);
    return own;
  }

  #create(folded: string, literal: string): Node {
    const flat = flatString(folded);
    return {
      edition: this.#edition,
      folded: flat,
      hash: segmentHash(folded),
      literal: literal === folded ? flat : flatString(literal),
      spellings: null,
      literals: null,
      param: null,
      claims: NO_CLAIMS,
      first: null,
      reach: null,
    };
  }

  /** Returns `node`, or a copy if the node belongs to an earlier edition and must not change. */
  #own(node: Node): Node {
    if (node.edition === this.#edition) return node;
    const { literals, reach, spellings } = node;
    return {
      ...node,
      edition: this.#edition,
      spellings: spellings && new Map(spellings),
      literals: literals?.copy() ?? null,
      reach: reach?.slice() ?? null,
    };
  }
}

/** Yields every route at or below `root` that requests can reach. */
export function* routesBelow(root: Node): Generator<CompiledRoute> {
  for (const [index, claim] of root.claims.entries()) {
    if (root.claims.findIndex(({ method }) => method === claim.method) === index) yield claim;
  }
  for (const child of childrenOf(root)) yield* routesBelow(child);
}

/** Returns the literals along the path of a route, with "" for each param. */
function literalsOf({ path }: CompiledRoute): string[] {
  return segmentsOf(path).map((segment) => ("literal" in segment ? segment.literal : ""));
}

/**
 * Compares routes by service name, then by scope (the more protected scope first), path in text order and
 * method. The position of a route in its service has no effect, so inserting a route leaves the others
 * unchanged.
 */
export function byPrecedence(a: CompiledRoute, b: CompiledRoute): number {
  if (a.service !== b.service) return a.service < b.service ? -1 : 1;
  if (a.scope !== b.scope) return SCOPES.indexOf(b.scope) - SCOPES.indexOf(a.scope);
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method);
}

function setClaims(node: Node, claims: readonly CompiledRoute[]): void {
  node.claims = claims;
  node.first = claims[0] ?? null;
}

function winnerOf(node: Node, method: string): CompiledRoute | null {
  const { first } = node;
  if (first === null || first.method === method) return first;
  for (const claim of node.claims) if (claim.method === method) return claim;
  return null;
}

/** Counts the spelling of a literal in a route that is about to be inserted at or below its node. */
function countSpelling(node: Node, literal: string): void {
  if (node.spellings === null) {
    if (node.literal === literal) return;
    node.spellings = new Map([[node.literal, countClaims(node)]]);
  }
  node.spellings.set(literal, (node.spellings.get(literal) ?? 0) + 1);
}

/** Reverts {@link countSpelling}. */
function forgetSpelling(node: Node, literal: string): void {
  if (node.spellings === null) return;
  const left = (node.spellings.get(literal) ?? 0) - 1;
  if (left > 0) node.spellings.set(literal, left);
  else node.spellings.delete(literal);
  const [last, ...others] = node.spellings.keys();
  if (last === undefined || others.length > 0) return;
  node.literal = last;
  node.spellings = null;
}

/** Counts the routes at or below a node, including those that requests cannot reach. */
function countClaims(node: Node): number {
  let count = node.claims.length;
  for (const child of childrenOf(node)) count += countClaims(child);
  return count;
}

/** @param folded the folded form of a literal, or "" for a param */
function childOf(node: Node, folded: string): Node | null {
  return folded === "" ? node.param : (node.literals?.get(folded, segmentHash(folded)) ?? null);
}

function setChild(node: Node, child: Node): void {
  if (child.folded === "") {
    node.param = child;
    return;
  }
  node.literals ??= new LiteralChildren();
  node.literals.set(child);
}

function dropChild(node: Node, child: Node): void {
  if (child.folded === "") node.param = null;
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

/** Clears the bit of `levels` if no route of the method remains that many levels below `node`. */
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
