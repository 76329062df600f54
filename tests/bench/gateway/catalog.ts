import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store";
import { type StoredServiceConfig, validateStored } from "@ostiary/lib/domain/routes";
import { openRouteStore } from "@ostiary/lib/runtime/stores/route-store";

/** The routes under measurement: the same ten are asked for, among however many others. */
const ROUTES_MAX = 100_000;
const ROUTES_PER_SERVICE = 100;
const ASKED = 10;
/** Requests of a run differ in their id, as those of a real one do. */
const IDS = 8;

export const LABEL = "things:read";
/** Never reached: refusing is cheaper than serving, and is not measured. */
export const LIMIT = { requests: 1_000_000_000, window_seconds: 60 };

/** `/org/area-07/things-42`, the part of a route's path in front of its param. */
function collectionOf(route: number): string {
  return `/org/area-${Math.floor(route / ROUTES_PER_SERVICE)}/things-${route % ROUTES_PER_SERVICE}`;
}

function routeNumbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index * (ROUTES_MAX / count));
}

/** What stands in front of the ids of the ten routes that are asked for. */
export const askedCollections = routeNumbers(ASKED).map(collectionOf);

function idsUnder(collections: readonly string[]): string[] {
  return Array.from({ length: IDS }, (_, id) =>
    collections.map((collection) => `${collection}/01j9zx4k7m2p5q8r1s3t6v9w${id}`),
  ).flat();
}

export const memberPaths = idsUnder(askedCollections);
export const publicPaths = idsUnder(["/public/things"]);

/** Where the request of `path` by a member of `organization_id` is to arrive. */
export function rewritten(path: string, organization_id: string): string {
  return path.replace(/^\/org/, `/organizations/${organization_id}`);
}

/** Publishes `count` routes for members and one for everyone, as the registry stores them. */
export async function publish(routeStoreUrl: string, count: number, upstreamUrl: string): Promise<void> {
  const store = await openRouteStore(routeStoreUrl);
  try {
    for (const [name, config] of services(count, upstreamUrl)) {
      const checked = validateStored(name, config);
      if (!checked.ok) throw new Error(`The bench's routes are not valid: ${JSON.stringify(checked.fields)}`);
      await store.put(`${ROUTES_PREFIX}${name}`, JSON.stringify(config));
    }
  } finally {
    await store.close();
  }
}

function* services(count: number, url: string): Generator<[string, StoredServiceConfig]> {
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
    const routes = numbers.slice(first, first + ROUTES_PER_SERVICE).map(memberRoute);
    yield [`things-${first / ROUTES_PER_SERVICE}`, { url, organization: { routes } }];
  }
}

function memberRoute(route: number) {
  const path = `${collectionOf(route)}/{thing_id}`;
  return {
    path,
    upstream: rewritten(path, "{subject.organization_id}").replace("{thing_id}", "{path.thing_id}"),
    methods: ["GET" as const],
    required_labels: [LABEL],
    rate_limit: LIMIT,
  };
}
