import { Bed } from "../measure/bed.ts";
import { editedService, whenServed } from "./edited-service.ts";

const ADMIN_TOKEN = "bench-admin-token";
const SERVICES = 100;
const ROUTES = 10_000;

/**
 * Adds a route with `apply` to 10 000 others, and returns the milliseconds until a gateway serves the route.
 * Polling starts only after the registry's response, because earlier requests would take CPU time from
 * `apply`.
 */
export async function servedAfterApply(times: number): Promise<number[]> {
  await using bed = new Bed(["etcd"]);
  const [database, etcd] = [await bed.database(), await bed.etcd()];
  const registry = await bed.process("apps/registry/main.ts", {
    DATABASE_URL: database.url,
    ROUTE_STORE_URL: etcd.url,
    ADMIN_TOKEN,
  });
  const gateway = await bed.process("apps/gateway/main.ts", {
    ROUTE_STORE_URL: etcd.url,
    COUNTER_STORE_URL: "memory://",
    CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:9/validate",
    AUDIT_ENABLED: "false",
    RATE_LIMIT_REQUESTS: "0",
    RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0",
  });
  await apply(registry.url, documentOfAll());
  const samples: number[] = [];
  for (let time = 0; time <= times; time++) {
    const probe = `/edited/${time}`;
    const started = performance.now();
    await apply(registry.url, { edited: editedService(probe) });
    await whenServed(gateway.url, probe);
    if (time > 0) samples.push(performance.now() - started);
  }
  return samples;
}

async function apply(url: string, services: object): Promise<void> {
  const response = await fetch(`${url}/apply`, {
    method: "POST",
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify({ services }),
  });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`The registry responded with ${response.status}: ${body}`);
}

/** Returns the services of a document with 10 000 routes. Each path has two routes: GET and POST. */
function documentOfAll(): object {
  const routesOf = (service: number) =>
    Array.from({ length: ROUTES / SERVICES / 2 }, (_, route) => ({
      path: `/s${service}/r${route}/{id}`,
      methods: { GET: {}, POST: { required_labels: ["widgets:write"] } },
    }));
  return Object.fromEntries(
    Array.from({ length: SERVICES }, (_, service) => [
      `service-${service}`,
      { url: "http://upstream:1", member: { routes: routesOf(service) } },
    ]),
  );
}
