/**
 * Decides what a publisher may write (RG-114). The registry enforces the bounds, and the console hides what they
 * forbid.
 */
import { type Static, Type } from "@sinclair/typebox";
import { isSameLimit } from "./limit-numbers.ts";
import { PathPrefixes } from "./path-prefix.ts";
import { parsedPath } from "./request-path.ts";
import { ownedRoutes } from "./route-conflicts.ts";
import { AddressPatterns, canonicalAddress } from "./service-address.ts";
import type { RateLimitPolicy, StoredServiceConfig } from "./service-schema.ts";

/**
 * A part of a write that is outside the operator's bounds: a whole service, or one path, url or shared policy of a
 * service.
 */
export const OutOfBounds = Type.Object(
  {
    service: Type.String({ description: "The service.", examples: ["billing"] }),
    path: Type.Optional(
      Type.String({
        description:
          "The path outside the operator's prefixes. Absent if the operator may not publish the service at all.",
        examples: ["/org/invoices"],
      }),
    ),
    url: Type.Optional(
      Type.String({
        description:
          "The url that the operator may not use: it is outside the operator's urls, or belongs to a service that the operator may not publish.",
        examples: ["http://identity:3001"],
      }),
    ),
    policy: Type.Optional(
      Type.String({
        description:
          "The shared policy that a service uses which the operator may not publish, and that the write declares or changes.",
        examples: ["partner"],
      }),
    ),
  },
  {
    title: "MissingPermission",
    description: "A part of the write for which the operator has no permission.",
  },
);
export type OutOfBounds = Static<typeof OutOfBounds>;

/** Returns the text of a part of a write that is outside the operator's bounds. */
export function outOfBoundsText({ service, path, url, policy }: OutOfBounds): string {
  if (path !== undefined) return `${path} of service ${service}`;
  if (url !== undefined) return `the url ${url} of service ${service}`;
  if (policy !== undefined) return `the shared policy ${policy} in service ${service}`;
  return `service ${service}`;
}

/** The services, paths and addresses that a publisher may write. Null means all. */
interface Bounds {
  /** Name patterns, in which `*` stands for any characters. */
  readonly services: readonly string[] | null;
  readonly paths: readonly string[] | null;
  /** Valid patterns of addresses. Without any, the publisher keeps each address as it is. */
  readonly urls: readonly string[] | null;
}

/** Services that a write creates, replaces, or, with null, deletes. */
type Writes = ReadonlyMap<string, StoredServiceConfig | null>;

/** The current state that a write is compared with. */
export interface Published {
  /** The paths of the written services. */
  readonly paths: readonly { readonly service: string; readonly path: string }[];
  /** The canonical addresses of the written services, and of every service at an address of the write. */
  readonly addresses: readonly { readonly service: string; readonly address: string | null }[];
  /** The declarations of every shared policy of the write, in all services. */
  readonly policies: readonly {
    readonly service: string;
    readonly name: string;
    readonly policy: RateLimitPolicy;
  }[];
}

export function publishedBy(services: Iterable<readonly [string, StoredServiceConfig]>): Published {
  const all = [...services];
  return {
    paths: all.flatMap(([service, config]) => ownedRoutes(service, config)),
    addresses: all.map(([service, { url }]) => ({ service, address: canonicalAddress(url) })),
    policies: all.flatMap(([service, config]) =>
      sharedPolicies(config).map(([name, policy]) => ({ service, name, policy })),
    ),
  };
}

export function sharedPolicies({ rate_limits = {} }: StoredServiceConfig): [string, RateLimitPolicy][] {
  return Object.entries(rate_limits).filter(([, { shared }]) => shared === true);
}

export class PublisherBounds {
  readonly #services: readonly string[] | null;
  readonly #prefixes: PathPrefixes | null;
  readonly #addresses: AddressPatterns | null;
  /** Whether the publisher keeps each address as it is. */
  readonly #keepsAddresses: boolean;

  constructor({ services, paths, urls }: Bounds) {
    this.#services = services;
    this.#prefixes = paths === null ? null : new PathPrefixes(paths);
    this.#addresses = urls === null ? null : new AddressPatterns(urls);
    this.#keepsAddresses = urls?.length === 0;
  }

  isOwn(service: string): boolean {
    return this.#services === null || this.#services.some((pattern) => fitsPattern(pattern, service));
  }

  /**
   * Returns the parts of a write that are outside the bounds, or an empty list if the publisher may do the write.
   * A restore sets the address also where the address stays the same.
   */
  outside(writes: Writes, published: Published, { isRestore = false } = {}): OutOfBounds[] {
    const own = new Map([...writes].filter(([service]) => this.isOwn(service)));
    const configs = [...own].flatMap(([service, config]) => (config === null ? [] : [{ service, config }]));
    return [
      ...[...writes.keys()].filter((service) => !own.has(service)).map((service) => ({ service })),
      ...this.#paths(own, published),
      ...configs
        .filter(({ service, config }) => !this.#mayUseAddress(service, config, published, isRestore))
        .map(({ service, config: { url } }) => ({ service, url })),
      ...configs.flatMap(({ service, config }) => this.#policies(service, config, published)),
    ];
  }

  /**
   * Returns the paths outside the prefixes, each once: of the current and new routes, and of the requests of the
   * new tests. Tests count, because a test on another team's path could block the writes of that team.
   */
  #paths(own: Writes, published: Published): OutOfBounds[] {
    const used = [...published.paths.filter(({ service }) => own.has(service))];
    for (const [service, config] of own) {
      if (config === null) continue;
      used.push(...ownedRoutes(service, config));
      used.push(...(config.tests ?? []).map(({ path }) => ({ service, path: parsedPath(path) })));
    }
    const found = used.filter(({ path }) => this.#prefixes?.cover(path) === false);
    return [...new Map(found.map(({ service, path }) => [`${service} ${path}`, { service, path }])).values()];
  }

  #mayUseAddress(
    service: string,
    { url }: StoredServiceConfig,
    { addresses }: Published,
    isRestore: boolean,
  ): boolean {
    const address = canonicalAddress(url);
    if (address === null) return false;
    const there = addresses.filter((each) => each.address === address).map((each) => each.service);
    if (there.some((other) => !this.isOwn(other))) return false;
    if (this.#keepsAddresses) return !isRestore && there.includes(service);
    return this.#addresses === null || this.#addresses.cover(address);
  }

  /** Returns the shared policies that a service of others declares too, except those that stay as they are. */
  #policies(service: string, config: StoredServiceConfig, { policies }: Published): OutOfBounds[] {
    return sharedPolicies(config).flatMap(([name, policy]) => {
      const declared = policies.filter((each) => each.name === name);
      const isForeign = declared.some((each) => !this.isOwn(each.service));
      const isKept = declared.some((each) => each.service === service && isSameLimit(each.policy, policy));
      return isForeign && !isKept ? [{ service, policy: name }] : [];
    });
  }
}

/** Returns whether `name` matches `pattern`, in which `*` stands for any number of characters. */
export function fitsPattern(pattern: string, name: string): boolean {
  const [start = "", ...parts] = pattern.split("*");
  const end = parts.pop();
  if (end === undefined) return name === pattern;
  if (!name.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - end.length >= at && name.endsWith(end);
}
