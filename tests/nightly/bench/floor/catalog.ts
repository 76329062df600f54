import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { LIMIT, memberRoute } from "../gateway/catalog.ts";

/** The number of services that all subjects have routes for. A load calls only the first service, or all. */
export const SERVICES = 200;
export const ROUTES_PER_SERVICE = 10;
/** The maximum number of different paths in one load. `wrk` gets the paths as arguments. */
const PATHS_MAX = 2_000;
const IDS = 8;

/** A benchmark route. Requests address an item below its path: `<path>/<id>`. */
interface Collection {
  /** The path that clients call, such as `/org/area-7/things-3`. */
  readonly path: string;
  readonly service: number;
  readonly isPublic: boolean;
}

/** Returns the routes of one service: one public route, then the routes for members. */
function collectionsOf(service: number): Collection[] {
  const area = AREA + service;
  const members = Array.from({ length: ROUTES_PER_SERVICE }, (_, number) => `/org${area}/things-${number}`);
  return [`/public${area}`, ...members].map((path, index) => ({ path, service, isPublic: index === 0 }));
}

const AREA = "/area-";

/** A route whose limit the second request exceeds. Only the gateway has it. */
const SPENT = "/org/spent/things";
export const SPENT_PATH = `${SPENT}/1`;
const SPENT_LIMIT = { requests: 1, window_seconds: 86_400 };

/** Returns the origin of the service that the path names, or the first origin if it names none. */
export function originOf(path: string, origins: readonly string[]): string | undefined {
  if (origins.length === 1) return origins[0];
  const at = path.indexOf(AREA);
  const start = at + AREA.length;
  return origins[at < 0 ? 0 : Number(path.slice(start, path.indexOf("/", start)))];
}

/** Returns the paths that a load calls, in a pseudo-random order that is the same in every run. */
export function pathsOf(services: number, { isPublic }: Pick<Collection, "isPublic">): string[] {
  const collections = Array.from({ length: services }, (_, service) => collectionsOf(service))
    .flat()
    .filter((collection) => collection.isPublic === isPublic);
  const paths = Array.from({ length: IDS }, (_, id) =>
    collections.map(({ path }) => `${path}/01j9zx4k7m2p5q8r1s3t6v9w${id}`),
  ).flat();
  return paths.slice(0, PATHS_MAX).toSorted((a, b) => Bun.hash.crc32(a) - Bun.hash.crc32(b));
}

/** Returns one service for each origin, by name, in stored form. */
export function servicesAt(origins: readonly string[]): [string, StoredServiceConfig][] {
  return origins.map((url, service) => {
    const collections = collectionsOf(service);
    return [
      `area-${service}`,
      {
        url,
        public: {
          routes: collections
            .filter(({ isPublic }) => isPublic)
            .map(({ path }) => ({
              path: `${path}/{thing_id}`,
              methods: ["GET" as const],
              rate_limit: false as const,
            })),
        },
        organization: {
          routes: [
            ...collections.filter(({ isPublic }) => !isPublic).map(({ path }) => memberRoute(path, LIMIT)),
            ...(service === 0 ? [memberRoute(SPENT, SPENT_LIMIT)] : []),
          ],
        },
      },
    ];
  });
}
