/**
 * Follows the section "To separate processes" of the guide one-process.md under load: clients keep their connections
 * and do not retry. A balancer takes the place of the web server in front.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startIdentityProvider, startSampleService } from "@ostiary/demo";
import { adminClient, publishCatalogs } from "../../../../apps/platform/catalogs.ts";
import { productionSecrets } from "../../../app/platform/bed.ts";
import { newSession } from "../../../full/flow/guides/caller.ts";
import { startPlatform } from "../../../full/flow/platform/bed.ts";
import { freePort } from "../../../support/http/free-port.ts";
import {
  freshCounterStoreUrl,
  freshDatabase,
  freshRouteStoreUrl,
  services,
  waitFor,
} from "../../../support/index.ts";
import { Balancer, type Replica } from "../../../support/load/balancer.ts";
import { KeepAliveLoad, type LoadKind } from "../../../support/load/keep-alive-load.ts";
import { gatewayPeers } from "../../../support/processes/stack.ts";
import { startProcess } from "../../../support/processes/start-process.ts";
import { withSql } from "../../../support/stores/sql.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

setDefaultTimeout(600_000);

const isReal = services().etcd.real && services().postgres.real && services().redis.real;
const GRACE = { SHUTDOWN_GRACE_MS: "1500", LOG_LEVEL: "info" };

const JSON_TYPE = { "Content-Type": "application/json" };

describe.skipIf(!isReal)("the way from one process to separate processes", () => {
  const ends: (() => unknown)[] = [];
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  async function start(part: string, env: Record<string, string>) {
    const process = await startProcess(`apps/${part}/main.ts`, { ...GRACE, ...env });
    ends.push(() => process.kill());
    return process;
  }

  // OP-34, OP-136
  test("fails no request, and every audited request has its event with an outcome", async () => {
    const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
    const sample = startSampleService({ host: "127.0.0.1", port: 0, intervalMs: 20 });
    ends.push(
      () => provider.stop(),
      () => sample.stop(),
    );
    const DATABASE_URL = await freshDatabase();
    const secrets = await productionSecrets();
    const { ADMIN_TOKEN, INTERNAL_AUTH_TOKEN, AUDIT_SIGNING_KEY_FILE } = secrets;
    const limits = { RATE_LIMIT_REQUESTS: "1000000" };
    const [port, internal, admin] = [freePort(), freePort(), freePort()];
    const one = await startPlatform({
      ...GRACE,
      ...secrets,
      ...limits,
      DEMO: "false",
      DATABASE_URL,
      DATA_DIR: temporaryFolder("one-process"),
      AUTH_ISSUER: provider.issuer,
      AUTH_JWKS_URI: provider.jwks_uri,
      GATEWAY_PORT: String(port),
      GATEWAY_INTERNAL_PORT: String(internal),
      REGISTRY_PORT: String(admin),
    });
    ends.push(() => one.kill());
    const old = { url: `http://127.0.0.1:${port}`, internalUrl: `http://127.0.0.1:${internal}` };
    const access = { registryUrl: `http://127.0.0.1:${admin}`, adminToken: ADMIN_TOKEN, program: "bun cli" };
    const balancer = new Balancer<Replica>();
    balancer.add(old);
    const front = await balancer.listen("url");
    ends.push(
      () => front.close(),
      () => balancer.stop(),
    );
    await waitFor(() => balancer.ready.includes(old), { timeoutMs: 60_000, what: "the one process" });
    await publishCatalogs(access, [{ service: "demo", url: sample.url }]);

    const session = await newSession(provider.issuer, old.url, "ada");
    const jwt = await (await fetch(`${provider.issuer}/token?subject=ada`)).text();
    const load = new KeepAliveLoad(clientsOf(front.url, session, jwt));
    ends.push(() => load.end());
    const more = (what: string) => {
      const before = load.least;
      return waitFor(() => load.least >= before + 20, { timeoutMs: 60_000, what });
    };
    await more("load on the one process");

    const shared = { DATABASE_URL, INTERNAL_AUTH_TOKEN };
    const identity = await start("identity", { ...shared, ROLES_FILE: "seeds/roles.yaml" });
    const audit = await start("audit", { ...shared, AUDIT_SIGNING_KEY_FILE });
    // A service with a history gets only another URL, as the commands `export`, `sed` and `apply` of the guide give it.
    await publishCatalogs(access, [
      { service: "identity", url: identity.url },
      { service: "audit", url: audit.url },
    ]);
    await more("load on identity beside the one process");
    const ROUTE_STORE_URL = await freshRouteStoreUrl();
    const registry = await start("registry", { DATABASE_URL, ADMIN_TOKEN, ROUTE_STORE_URL });
    const gateway = await start("gateway", {
      ROUTE_STORE_URL,
      COUNTER_STORE_URL: await freshCounterStoreUrl(),
      ...gatewayPeers({ provider, identity, audit }),
      INTERNAL_AUTH_TOKEN,
      ...limits,
    });
    const client = adminClient(
      { registryUrl: registry.url, adminToken: ADMIN_TOKEN, program: "bun cli" },
      10,
    );
    const current = async () => (await client.gateways()).some((each) => each.current);
    await waitFor(current, { timeoutMs: 60_000, what: "the new gateway to serve all services" });
    balancer.add(gateway);
    await waitFor(() => balancer.ready.includes(gateway), { timeoutMs: 60_000, what: "the new gateway" });
    balancer.remove(old);
    const stopped = performance.now();
    expect(await one.stop()).toBe(0);
    const stopMs = performance.now() - stopped;
    await more("load on the separate processes");
    await load.end();
    const counts = [...load.responded].map(([kind, ids]) => `${kind} ${ids.length}`).join(", ");
    process.stdout.write(`responses: ${counts}; the one process stopped in ${Math.round(stopMs)} ms\n`);
    expect(load.failures).toEqual([]);
    await expectWholeEvents(DATABASE_URL, load.responded.get("audited") ?? []);
  });
});

/** Returns the clients of the demo's catalog and of identity at a gateway, with a member's key and a person's token. */
function clientsOf(url: string, key: string, jwt: string): LoadKind[] {
  const common = { url, clients: 4, pauseMsMax: 250 };
  const member = { "X-API-Key": key };
  return [
    { ...common, name: "public", method: "GET", path: "/demo/hello" },
    { ...common, name: "key", method: "GET", path: "/demo/things/1", headers: member },
    {
      ...common,
      name: "audited",
      method: "PUT",
      path: "/demo/things/1",
      headers: { ...member, ...JSON_TYPE },
      body: '{"color":"red"}',
    },
    {
      ...common,
      name: "person",
      method: "PATCH",
      path: "/user",
      headers: { Authorization: `Bearer ${jwt}`, ...JSON_TYPE },
      body: '{"display_name":"Ada"}',
    },
  ];
}

/** Waits until each of these requests has an audit event with the outcome `responded`. */
async function expectWholeEvents(databaseUrl: string, request_ids: readonly string[]): Promise<void> {
  await withSql(databaseUrl, async (sql) => {
    const whole = async () => {
      const [row] = await sql`select count(*)::int as whole from audit.audit_events
        where request_id in ${sql([...request_ids])} and outcome = 'responded'`;
      if (row?.whole === request_ids.length) return true;
      throw new Error(`${row?.whole} of ${request_ids.length} events have the outcome responded.`);
    };
    await waitFor(whole, { pollMs: 200 });
  });
}
