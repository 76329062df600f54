import { fitsPattern } from "./name-pattern.ts";
import { PathPrefixes } from "./path-prefix.ts";
import { ownedRoutes } from "./route-conflicts.ts";
import type { StoredServiceConfig } from "./service-schema.ts";

/** A path of a service. */
export interface ServicePath {
  readonly service: string;
  readonly path: string;
}

/** A part of a write that is outside the operator's bounds: a whole service, or one path of a service. */
export interface OutOfBounds {
  readonly service: string;
  readonly path?: string;
}

/** The services and paths that a publisher may write (RG-114). Null means all. */
interface Bounds {
  /** Name patterns, in which `*` stands for any characters. */
  readonly services: readonly string[] | null;
  /** Valid path prefixes. */
  readonly paths: readonly string[] | null;
}

/**
 * The bounds of a publisher. The registry enforces the bounds, and the console hides actions that they
 * forbid.
 */
export class PublisherBounds {
  readonly #services: readonly string[] | null;
  readonly #prefixes: PathPrefixes | null;

  constructor({ services, paths }: Bounds) {
    this.#services = services;
    this.#prefixes = paths === null ? null : new PathPrefixes(paths);
  }

  /** Whether the publisher may use only some paths. */
  get hasPaths(): boolean {
    return this.#prefixes !== null;
  }

  isOwn(service: string): boolean {
    return this.#services === null || this.#services.some((pattern) => fitsPattern(pattern, service));
  }

  /** Returns the paths that are outside the publisher's prefixes, without duplicates. */
  outside(used: readonly ServicePath[]): ServicePath[] {
    const found = used.filter(({ path }) => this.#prefixes?.cover(path) === false);
    return [...new Map(found.map(({ service, path }) => [`${service} ${path}`, { service, path }])).values()];
  }
}

/**
 * Returns the paths of a service's routes and tests. Tests count, because a test on another team's path could
 * block the writes of that team.
 */
export function boundedPaths(service: string, config: StoredServiceConfig): ServicePath[] {
  return [...ownedRoutes(service, config), ...(config.tests ?? [])].map(({ path }) => ({ service, path }));
}
