import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { freshCounterStoreUrl, freshDatabase, freshRouteStoreUrl, services } from "../support/services.ts";
import { ProcessEnded, type RunningProcess, startProcess } from "../support/start-process.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(60_000);

/** What every service does alike when it starts and stops (contract 1), on real processes. */
const { postgres, redis, etcd } = services();
const allReal = postgres.real && redis.real && etcd.real;
const ADMIN_TOKEN = "test-admin-token-7c1f";

const started: { kill(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.kill()));
});

async function start(app: string, env: Record<string, string>): Promise<RunningProcess> {
  const process = await startProcess(`apps/${app}/main.ts`, env);
  started.push(process);
  return process;
}

async function refusal(app: string, env: Record<string, string>): Promise<ProcessEnded> {
  const failure = await start(app, env).catch((error: unknown) => error);
  if (failure instanceof ProcessEnded) return failure;
  throw new Error(`${app} must refuse to start: ${Bun.inspect(failure)}`);
}

/** The variables with which `app` starts on fresh stores. */
async function variables(app: string, database?: string): Promise<Record<string, string>> {
  const DATABASE_URL = database ?? (await freshDatabase());
  switch (app) {
    case "registry":
      return { DATABASE_URL, ADMIN_TOKEN, ROUTE_STORE_URL: await freshRouteStoreUrl() };
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

describe.each([
  ["gateway", ["COUNTER_STORE_URL", "CREDENTIAL_VALIDATE_URL", "PORT"]],
  ["registry", ["ADMIN_TOKEN", "DATABASE_URL", "PORT"]],
  ["identity", ["DATABASE_URL", "PORT"]],
  ["audit", ["DATABASE_URL", "PORT"]],
])("%s without its variables", (app, missing) => {
  test("exits with 78 and names every variable that is wrong on stderr", async () => {
    const { exit_code, stderr } = await refusal(app, { PORT: "seventy" });
    expect(exit_code).toBe(78);
    const named = stderr.slice(1).map((line) => line.trim().split(" ")[0] ?? "");
    expect(named).toEqual(expect.arrayContaining(missing));
    expect(stderr.find((line) => line.includes("PORT must"))).toBe(
      "  PORT must be a whole number from 0 to 65535.",
    );
  });
});

describe("a start that is refused", () => {
  test("never prints a secret", async () => {
    const { stderr, stdout } = await refusal("registry", {
      DATABASE_URL: "mysql://admin:hunter2@db/x",
      ADMIN_TOKEN,
      PORT: "-1",
    });
    expect([...stdout, ...stderr].join("\n")).not.toMatch(/hunter2|test-admin-token/);
  });

  test("a store in memory that another process must share is refused, with the reason", async () => {
    const { exit_code, stderr } = await refusal("registry", {
      DATABASE_URL: "pglite://memory",
      ADMIN_TOKEN,
      ROUTE_STORE_URL: "memory://",
    });
    expect(exit_code).toBe(78);
    expect(stderr.join("\n")).toContain("ROUTE_STORE_URL");
  });

  test("the gateway does not start while the route store can not be reached", async () => {
    const { exit_code, stderr } = await refusal("gateway", {
      ...(await variables("gateway")),
      ROUTE_STORE_URL: "http://127.0.0.1:1",
    });
    expect(exit_code).not.toBe(0);
    expect(stderr.join("\n")).toContain("route store");
  });

  test("a port in use is named", async () => {
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    try {
      const { exit_code, stderr } = await refusal("audit", {
        DATABASE_URL: await freshDatabase(),
        PORT: String(taken.port),
      });
      expect([exit_code, ...stderr]).toEqual([
        78,
        "The configuration is not valid:",
        `  PORT is ${taken.port}, which is in use on 127.0.0.1 by another program: stop that, or set another port.`,
      ]);
    } finally {
      taken.stop(true);
    }
  });
});

describe.skipIf(!allReal).each(["gateway", "registry", "identity", "audit"])("%s", (app) => {
  test("logs where it listens, answers health and metrics on the internal port only, and exits 0", async () => {
    const service = await start(app, await variables(app));
    expect(service.logs().find(({ message }) => message === "listening")).toMatchObject({
      level: "info",
      service: app,
      port: expect.any(Number),
      internal_port: expect.any(Number),
    });
    expect(await (await fetch(`${service.internal_url}/health/live`)).json()).toEqual({ status: "healthy" });
    const metrics = await (await fetch(`${service.internal_url}/metrics`)).text();
    expect(metrics).toContain("process_resident_memory_bytes");
    expect((await fetch(`${service.url}/metrics`)).status).not.toBe(200);
    expect(await service.stop("SIGTERM")).toBe(0);
  });

  test("turns unready when it is told to stop, and serves until its grace has passed", async () => {
    const service = await start(app, { ...(await variables(app)), SHUTDOWN_GRACE_MS: "1500" });
    const stopped = service.stop("SIGINT");
    const unready = await waitFor(async () => {
      const answer = await fetch(`${service.internal_url}/health/ready`);
      const body: unknown = await answer.json();
      return answer.status === 503 && Bun.inspect(body).includes("shutting down") && body;
    });
    expect(unready).toEqual({ status: "unhealthy", checks: { service: "shutting down" } });
    expect((await fetch(`${service.url}/nowhere`)).status).toBeGreaterThanOrEqual(400);
    expect(await stopped).toBe(0);
  });

  test("takes the same signal sent twice in a row for one, as package runners send it", async () => {
    const service = await start(app, await variables(app));
    expect(await Promise.all([service.stop("SIGINT"), service.stop("SIGINT")])).toEqual([0, 0]);
  });

  test("a second signal ends it at once", async () => {
    const service = await start(app, { ...(await variables(app)), SHUTDOWN_GRACE_MS: "600000" });
    const first = service.stop("SIGTERM");
    await waitFor(async () => (await fetch(`${service.internal_url}/health/ready`)).status === 503);
    const second = service.stop("SIGINT");
    expect(await Promise.all([first, second])).toEqual([1, 1]);
  });
});

describe.skipIf(!postgres.real || !etcd.real).each(["registry", "identity", "audit"])(
  "four replicas of %s",
  (app) => {
    test("start at once on an empty database and all come up", async () => {
      const env = await variables(app, await freshDatabase());
      const replicas = await Promise.all([1, 2, 3, 4].map(() => start(app, env)));
      const ready = await Promise.all(
        replicas.map(({ internal_url }) => fetch(`${internal_url}/health/ready`)),
      );
      expect(ready.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await Promise.all(replicas.map((replica) => replica.stop()))).toEqual([0, 0, 0, 0]);
    });
  },
);
