/** The look-up table of the gateway: which route serves a method and a path (contract 4, Matching). */
import { type CompiledRoute, compileService } from "./compile.ts";
import { METHODS, type Method, type StoredServiceConfig } from "./schema.ts";
import { RouteTree } from "./tree.ts";

export interface RouteMatch {
  readonly route: CompiledRoute;
  /** The values of the path's params as received, in the order of `route.params`. */
  readonly params: readonly string[];
}

/** An immutable set of routes, built whole by {@link buildRouteTable}. */
export class RouteTable {
  /** Every route that can be reached. */
  readonly routes: readonly CompiledRoute[];
  /** What was left out and why, for the log. */
  readonly warnings: readonly string[];
  readonly #tree: RouteTree;

  constructor(tree: RouteTree, routes: readonly CompiledRoute[], warnings: readonly string[]) {
    this.#tree = tree;
    this.routes = routes;
    this.warnings = warnings;
  }

  /**
   * The route that serves `method` on `path`, or null.
   *
   * @param path the path of a parsed URL, without its query
   */
  match(method: string, path: string): RouteMatch | null {
    const route = this.#tree.find(method, path);
    return route === null ? null : { route, params: this.#tree.paramValues(route, path) };
  }

  /** How many nodes the latest look-up visited: what it cost. */
  get visited(): number {
    return this.#tree.visited;
  }

  /** The methods that some route serves on `path`. */
  methodsAt(path: string): Method[] {
    return METHODS.filter((method) => this.#tree.find(method, path) !== null);
  }
}

/**
 * Builds the table from valid services. A service name, or a method and shape, that is there already is left
 * out with a warning: the first wins (Gateway specification, Validation rule 12). Inside one service routes may
 * have one shape; the one of the more protected scope wins, then the earlier one.
 */
export function buildRouteTable(services: Iterable<readonly [string, StoredServiceConfig]>): RouteTable {
  const tree = new RouteTree();
  const routes: CompiledRoute[] = [];
  const warnings: string[] = [];
  const names = new Set<string>();
  for (const [name, config] of services) {
    if (names.has(name)) {
      warnings.push(`Service ${name} is there twice: the first one is served.`);
      continue;
    }
    names.add(name);
    for (const route of compileService(name, config)) {
      const holder = tree.insert(route);
      if (holder === null) routes.push(route);
      else if (holder.service !== name) warnings.push(leftOut(route, holder));
    }
  }
  return new RouteTable(tree, routes, warnings);
}

/** The values of a match's params by name. */
export function namedParams({ route, params }: RouteMatch): Record<string, string> {
  return Object.fromEntries(route.params.map((name, index) => [name, params[index] ?? ""]));
}

function leftOut(route: CompiledRoute, holder: CompiledRoute): string {
  return `${route.method} ${route.path} of service ${route.service} is left out: service ${holder.service} has ${holder.path}.`;
}
