/** The look-up table of the gateway: which route serves a method and a path (contract 4, Matching). */
import { type CompiledRoute, compileService, isSameRoute } from "./compile.ts";
import type { StoredServiceConfig } from "./schema.ts";
import { byPrecedence, type Node, RouteFinder, RouteTree, routesBelow } from "./tree.ts";

export interface RouteMatch {
  readonly route: CompiledRoute;
  /** The values of the path's params as received, in the order of `route.params`. */
  readonly params: readonly string[];
}

/** An immutable set of routes, as a {@link RouteTableBuilder} had it. */
export class RouteTable {
  /** What was left out and why, for the log. */
  readonly warnings: readonly string[];
  /** How many services are in, and how many of their routes can be reached. */
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
   * The route that serves `method` on `path`, or null.
   *
   * @param path the path of a parsed URL, without its query
   */
  match(method: string, path: string): RouteMatch | null {
    const route = this.#finder.find(this.#root, method, path);
    return route === null ? null : { route, params: this.#finder.paramValues(route) };
  }

  /** How many nodes the latest look-up visited: what it cost. */
  get visited(): number {
    return this.#finder.visited;
  }

  /** Every route that can be reached, in the order of precedence: made anew each time. */
  get routes(): CompiledRoute[] {
    return [...routesBelow(this.#root)].sort(byPrecedence);
  }
}

/**
 * Makes tables, each from the one before. A change costs what is read of its service, and what is new or gone of
 * its routes, however many others there are; the tables that were taken stay as they are.
 *
 * Of two services with routes of one method and shape the first by name wins, and the other's is left out with a
 * warning (Gateway specification, Validation rule 12). Inside one service the one of the more protected scope
 * wins, then the first path in text order.
 */
export class RouteTableBuilder {
  readonly #tree = new RouteTree();
  readonly #finder = new RouteFinder();
  readonly #services = new Map<string, readonly CompiledRoute[]>();
  /** The routes that another one of their shape and method keeps from serving. */
  readonly #beaten = new Set<CompiledRoute>();
  #routes = 0;

  has(name: string): boolean {
    return this.#services.has(name);
  }

  /**
   * Puts a valid service in the place of the one of its name, in steps: a table is taken after the last. Only what
   * comes before the first change can throw.
   */
  *put(name: string, config: StoredServiceConfig): Generator<void, void> {
    const gone = new Map<string, CompiledRoute>();
    for (const route of this.#services.get(name) ?? []) {
      gone.set(placeOf(route), route);
      yield;
    }
    const routes: CompiledRoute[] = [];
    const added: CompiledRoute[] = [];
    for (const route of compileService(name, config)) {
      const place = placeOf(route);
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

  /** Takes a service out, in steps. */
  *delete(name: string): Generator<void, void> {
    const replaced = this.#services.get(name) ?? [];
    this.#services.delete(name);
    for (const route of replaced) yield this.#remove(route);
  }

  /** The table as it is now, with warnings of what came `before` it. */
  take(before: readonly string[] = []): RouteTable {
    const beaten = [...this.#beaten].sort(byPrecedence);
    return new RouteTable(this.#tree.take(), this.#finder, {
      counts: { services: this.#services.size, routes: this.#routes - beaten.length },
      warnings: [...before, ...beaten.flatMap((route) => this.#warning(route))],
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
      `${route.method} ${route.path} of service ${route.service} is left out: service ${winner.service} has ${winner.path}.`,
    ];
  }
}

/** What one route of a service has alone. */
function placeOf({ method, path }: CompiledRoute): string {
  return `${method} ${path}`;
}

/** The table of valid services. Of two with one name the first is served, with a warning. */
export function buildRouteTable(services: Iterable<readonly [string, StoredServiceConfig]>): RouteTable {
  const builder = new RouteTableBuilder();
  const warnings: string[] = [];
  for (const [name, config] of services) {
    if (builder.has(name)) warnings.push(`Service ${name} is there twice: the first one is served.`);
    else for (const _ of builder.put(name, config));
  }
  return builder.take(warnings);
}

/** The values of a match's params by name. */
export function namedParams({ route, params }: RouteMatch): Record<string, string> {
  return Object.fromEntries(route.params.map((name, index) => [name, params[index] ?? ""]));
}
