/** Tests of how every service starts and stops (OP-3, OP-30). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { type RunningProcess, startProcess } from "../../../support/processes/start-process.ts";
import {
  freshCounterStoreUrl,
  freshDatabase,
  freshRouteStoreUrl,
  services,
} from "../../../support/stores/services.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

setDefaultTimeout(60_000);

const { postgres, redis, etcd } = services();
const allReal = postgres.real && redis.real && etcd.real;

async function start(app: string, env: Record<string, string>): Promise<RunningProcess> {
  const process = await startProcess(`apps/${app}/main.ts`, env, { source: true });
  atTestEnd(() => process.kill());
  return process;
}

/** Returns the environment variables of `app`, with empty stores. */
async function variables(app: string, database?: string): Promise<Record<string, string>> {
  const DATABASE_URL = database ?? (await freshDatabase());
  switch (app) {
    case "registry":
      return { DATABASE_URL, ADMIN_TOKEN: "token", ROUTE_STORE_URL: await freshRouteStoreUrl() };
    case "gateway":
      return {
        ROUTE_STORE_URL: await freshRouteStoreUrl(),
        COUNTER_STORE_URL: await freshCounterStoreUrl(),
        AUTH_ISSUER: "http://127.0.0.1:1",
        AUTH_JWKS_URI: "http://127.0.0.1:1/jwks",
        CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:1/validate",
        AUDIT_ENABLED: "false",
      };
    default:
      return { DATABASE_URL };
  }
}

describe.skipIf(!allReal).each(["gateway", "registry", "identity", "audit"])("%s", (app) => {
  // OP-2, OP-3, OP-30, OP-46
  test("logs its ports, serves health and metrics only on the internal port, and exits with 0", async () => {
    const service = await start(app, { ...(await variables(app)), SHUTDOWN_GRACE_MS: "10" });
    expect(service.logs().find(({ message }) => message === "listening")).toMatchObject({
      level: "info",
      service: app,
      port: expect.any(Number),
      internal_port: expect.any(Number),
    });
    expect(await (await fetch(`${service.internalUrl}/health/live`)).json()).toEqual({ status: "healthy" });
    const metrics = await (await fetch(`${service.internalUrl}/metrics`)).text();
    expect(metrics).toContain("process_resident_memory_bytes");
    expect((await fetch(`${service.url}/metrics`)).status).not.toBe(200);
    expect(await service.stop("SIGTERM")).toBe(0);
  });

  // OP-32
  test("treats two signals at the same time as one, because package runners send them so", async () => {
    const service = await start(app, await variables(app));
    expect(await Promise.all([service.stop("SIGINT"), service.stop("SIGINT")])).toEqual([0, 0]);
  });

  // OP-32
  test("exits at once at a later second signal", async () => {
    const service = await start(app, { ...(await variables(app)), SHUTDOWN_GRACE_MS: "600000" });
    const first = service.stop("SIGTERM");
    await waitFor(async () => (await fetch(`${service.internalUrl}/health/ready`)).status === 503);
    const second = service.stop("SIGINT");
    expect(await Promise.all([first, second])).toEqual([1, 1]);
  });
});

// OP-16
describe.skipIf(!postgres.real || !etcd.real).each(["registry", "identity", "audit"])(
  "four replicas of %s",
  (app) => {
    test("start at once on an empty database", async () => {
      const env = await variables(app, await freshDatabase());
      const replicas = await Promise.all([1, 2, 3, 4].map(() => start(app, env)));
      const ready = await Promise.all(
        replicas.map(({ internalUrl }) => fetch(`${internalUrl}/health/ready`)),
      );
      expect(ready.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await Promise.all(replicas.map((replica) => replica.stop()))).toEqual([0, 0, 0, 0]);
    });
  },
);
