/** The gateway's route table, which finds the route for a method and a path (GW-12). */
import type { CallBounds } from "./call-bounds.ts";
import { type CompiledRoute, compileService, isSameRoute, SharedParts } from "./compile-service.ts";
import { byPrecedence, type Node, RouteFinder, RouteTree, routesBelow } from "./match-tree.ts";
import type { StoredServiceConfig } from "./service-schema.ts";

export interface RouteMatch {
  readonly route: CompiledRoute;
  /** The values of the path's params as received, in the order of `route.params`. */
  readonly params: readonly string[];
}

/** An immutable set of routes, taken from a {@link RouteTableBuilder}. */
export class RouteTable {
  /** The log messages: one for each route that is skipped because another service's route takes precedence. */
  readonly warnings: readonly string[];
  /** The number of services, and the number of routes that requests can reach. */
  readonly counts: { readonly services: number; readonly routes: number };
  readonly #root: Node;
  readonly #finder: RouteFinder;

  constructor(
    root: Node,
    finder: RouteFinder,
    { counts, warnings }: Pick<RouteTable, "counts" | "warnings">,
  ) {
    this.#root = root;
    this.#finder = finder;
    this.counts = counts;
    this.warnings = warnings;
  }

  /**
   * Returns the route that serves `method` on `path`, or null.
   *
   * @param path the path of a parsed URL, without its query
   */
  match(method: string, path: string): RouteMatch | null {
    const route = this.#finder.find(this.#root, method, path);
    return route === null ? null : { route, params: this.#finder.paramValues(route) };
  }

  /**
   * Returns whether the routes can decide a request: one of them serves the request, or a literal that the path
   * writes in another way refuses it.
   */
  touches(method: string, path: string): boolean {
    return this.#finder.find(this.#root, method, path) !== null || this.#finder.isRefused;
  }

  get steps(): number {
    return this.#finder.steps;
  }

  /** Every reachable route in order of precedence. Each read builds a new list. */
  get routes(): CompiledRoute[] {
    return [...this.unordered].sort(byPrecedence);
  }

  /** Every reachable route, in no particular order. */
  get unordered(): Iterable<CompiledRoute> {
    return routesBelow(this.#root);
  }
}

/**
 * Builds each route table from the previous table. A table that `take()` has returned never changes. The cost
 * of a change depends only on the size of its service and on the routes that the change adds and removes.
 *
 * If two services have routes with the same method and shape, the first service by name wins. The table
 * leaves the other route out with a warning (GW-27, GW-28). Within a service the more protected scope wins,
 * then the first path in text order.
 */
export class RouteTableBuilder {
  #tree = new RouteTree();
  readonly #finder = new RouteFinder();
  readonly #services = new Map<string, readonly CompiledRoute[]>();
  readonly #shared: SharedParts;
  /** The routes that are not served, because another route with the same shape and method wins. */
  readonly #beaten = new Set<CompiledRoute>();
  #routes = 0;

  /** @param defaults the bounds of routes that configure none; {@link DEFAULT_CALL_BOUNDS} if omitted */
  constructor(defaults?: CallBounds) {
    this.#shared = new SharedParts(defaults);
  }

  /**
   * Adds or replaces a valid service in steps. Callers must finish all steps before they call {@link take}.
   * Only the steps before the first change can throw, so an error never leaves a service half replaced.
   */
  *put(name: string, config: StoredServiceConfig): Generator<void, void> {
    const gone = new Map<string, CompiledRoute>();
    for (const route of this.#services.get(name) ?? []) {
      gone.set(keyOf(route), route);
      yield;
    }
    const routes: CompiledRoute[] = [];
    const added: CompiledRoute[] = [];
    for (const route of compileService(name, config, this.#shared)) {
      const place = keyOf(route);
      const known = gone.get(place);
      if (known !== undefined && isSameRoute(known, route)) {
        routes.push(known);
        gone.delete(place);
      } else {
        routes.push(route);
        added.push(route);
      }
      yield;
    }
    this.#services.set(name, routes);
    for (const route of added) yield this.#insert(route);
    for (const route of gone.values()) yield this.#remove(route);
  }

  /**
   * Returns a builder that starts from the current table. Neither builder changes the tables of the other one.
   * Callers must finish all steps of {@link put} and {@link delete} first.
   */
  fork(): RouteTableBuilder {
    const fork = new RouteTableBuilder();
    fork.#tree = this.#tree.fork();
    for (const [name, routes] of this.#services) fork.#services.set(name, routes);
    for (const route of this.#beaten) fork.#beaten.add(route);
    fork.#routes = this.#routes;
    return fork;
  }

  /** Returns, in steps, a table of only the routes of some services. */
  *only(names: Iterable<string>): Generator<void, RouteTable> {
    const part = new RouteTableBuilder();
    for (const name of names) {
      for (const route of this.#services.get(name) ?? []) yield part.#insert(route);
    }
    return part.take();
  }

  *delete(name: string): Generator<void, void> {
    const replaced = this.#services.get(name) ?? [];
    this.#services.delete(name);
    for (const route of replaced) yield this.#remove(route);
  }

  take(): RouteTable {
    const beaten = [...this.#beaten].sort(byPrecedence);
    return new RouteTable(this.#tree.take(), this.#finder, {
      counts: { services: this.#services.size, routes: this.#routes - beaten.length },
      warnings: beaten.flatMap((route) => this.#warning(route)),
    });
  }

  #insert(route: CompiledRoute): void {
    const [, ...beaten] = this.#tree.insert(route);
    this.#routes++;
    for (const rival of beaten) this.#beaten.add(rival);
  }

  #remove(route: CompiledRoute): void {
    if (this.#beaten.size > 0) {
      const [winner, next] = this.#tree.rivalsOf(route);
      if (winner === route && next !== undefined) this.#beaten.delete(next);
      this.#beaten.delete(route);
    }
    this.#tree.remove(route);
    this.#routes--;
  }

  #warning(route: CompiledRoute): string[] {
    const [winner] = this.#tree.rivalsOf(route);
    if (winner === undefined || winner.service === route.service) return [];
    return [
      `${route.method} ${route.path} of service ${route.service} is skipped: service ${winner.service} has ${winner.path}.`,
    ];
  }
}

export function tableOf(services: ReadonlyMap<string, StoredServiceConfig>): RouteTable {
  const builder = new RouteTableBuilder();
  for (const [name, config] of services) {
    for (const _ of builder.put(name, config));
  }
  return builder.take();
}

/** Returns a key that is unique among the routes of one service. */
function keyOf({ method, path }: CompiledRoute): string {
  return `${method} ${path}`;
}

export function namedParams({ route, params }: RouteMatch): Record<string, string> {
  return Object.fromEntries(route.params.map((name, index) => [name, params[index] ?? ""]));
}
