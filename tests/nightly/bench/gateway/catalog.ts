import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { RouteRateLimit, StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { openRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { validateStored } from "../../../support/gateway/route-tables.ts";

/** The maximum number of routes of a subject. Requests always call the same ten routes. */
const ROUTES_MAX = 100_000;
const ROUTES_PER_SERVICE = 100;
const ASKED = 10;
const IDS = 8;

export const LABEL = "things:read";
/** A limit that no bench reaches, because a refused request costs less than a served one. */
export const LIMIT = { requests: 1_000_000_000, window_seconds: 60 };

/** A quota that no bench reaches. It is a policy, so all routes share one count for each caller. */
const QUOTAS = { monthly: { requests: LIMIT.requests, period: "month" } } as const;
export const TWO_LIMITS: RouteRateLimit = [LIMIT, "monthly"];

/** Returns the part of a route's path before its param, such as `/org/area-7/things-42`. */
function collectionOf(route: number): string {
  return `/org/area-${Math.floor(route / ROUTES_PER_SERVICE)}/things-${route % ROUTES_PER_SERVICE}`;
}

function routeNumbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index * (ROUTES_MAX / count));
}

/** The paths of the ten routes that requests call, without the param. */
const askedCollections = routeNumbers(ASKED).map(collectionOf);

function idsUnder(collections: readonly string[]): string[] {
  return Array.from({ length: IDS }, (_, id) =>
    collections.map((collection) => `${collection}/01j9zx4k7m2p5q8r1s3t6v9w${id}`),
  ).flat();
}

export const memberPaths = idsUnder(askedCollections);
export const publicPaths = idsUnder(["/public/things"]);

/** Returns the upstream path of a request for `path` from a member of the organization. */
export function rewritten(path: string, organization_id: string): string {
  return path.replace(/^\/org/, `/organizations/${organization_id}`);
}

/** Services by name, in stored form. */
export type Services = Iterable<readonly [name: string, config: StoredServiceConfig]>;

export async function publish(routeStoreUrl: string, services: Services): Promise<void> {
  const store = await openRouteStore(routeStoreUrl);
  try {
    for (const [name, config] of services) {
      const checked = validateStored(name, config);
      if (!checked.ok) throw new Error(`The bench's routes are not valid: ${JSON.stringify(checked.fields)}`);
      await store.put(`${ROUTES_PREFIX}${name}`, JSON.stringify(config));
    }
  } finally {
    await store.close();
  }
}

/** Returns services that have `count` member routes with this rate limit, and two public routes. */
export function* servicesOf(
  count: number,
  url: string,
  rate_limit: RouteRateLimit = LIMIT,
): Generator<[string, StoredServiceConfig]> {
  yield [
    "public",
    {
      url,
      public: {
        routes: [
          { path: "/public/things/{thing_id}", methods: ["GET"], rate_limit: false },
          { path: "/public/sink/{thing_id}", methods: ["PUT"], rate_limit: false },
        ],
      },
    },
  ];
  const numbers = routeNumbers(count);
  for (let first = 0; first < count; first += ROUTES_PER_SERVICE) {
    const routes = numbers
      .slice(first, first + ROUTES_PER_SERVICE)
      .map((route) => memberRoute(collectionOf(route), rate_limit));
    yield [`things-${first / ROUTES_PER_SERVICE}`, { url, rate_limits: QUOTAS, organization: { routes } }];
  }
}

/** Returns a route whose requests use all features. They address an item below `collection`. */
export function memberRoute(collection: string, rate_limit: RouteRateLimit) {
  return {
    path: `${collection}/{thing_id}`,
    upstream: `${rewritten(collection, "{subject.organization_id}")}/{path.thing_id}`,
    methods: ["GET" as const],
    required_labels: [LABEL],
    rate_limit,
  };
}
