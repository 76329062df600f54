import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";

export const FEW_ROUTES = 100;
/** The number of routes of a large service, near the maximum for one service. */
export const MANY_ROUTES = 4_000;
const POLL_MS = 1;

/** Returns a service with this many routes. One of them is `<probe>/{id}`. */
export function editedService(probe: string, routes = FEW_ROUTES): StoredServiceConfig {
  const paths = [probe, ...Array.from({ length: routes - 1 }, (_, index) => `/edited/things-${index}`)];
  return {
    url: "http://127.0.0.1:9",
    public: { routes: paths.map((path) => ({ path: `${path}/{id}`, methods: ["GET"], rate_limit: false })) },
  };
}

/**
 * Polls until a gateway has the route `<probe>/{id}`. The gateway then responds with 400, because the param
 * is invalid, and calls no service.
 */
export async function whenServed(url: string, probe: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}${probe}/%2f`);
    await response.bytes();
    if (response.status === 400) return;
    if (response.status !== 404) throw new Error(`The gateway responded with ${response.status}.`);
    await Bun.sleep(POLL_MS);
  }
}
