import { ServiceBed } from "../measure/service-bed.ts";
import { ADMIN_TOKEN, apply, documentOf } from "../registry.ts";
import { editedService, whenServed } from "./edited-service.ts";

const SERVICES = 100;

/**
 * Adds a route with `apply` to 10 000 others, and returns the milliseconds until a gateway serves the route.
 * Polling starts only after the registry's response, because earlier requests would take CPU time from
 * `apply`.
 */
export async function servedAfterApply(times: number): Promise<number[]> {
  await using bed = new ServiceBed(["etcd"]);
  const [database, etcd] = [await bed.database(), await bed.routeStore()];
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
  await apply(registry.url, documentOf(SERVICES, 0));
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
