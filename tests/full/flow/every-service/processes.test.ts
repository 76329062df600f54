/** Tests of how every service starts, is probed and stops, each as a process with its own stores. */
import { beforeAll, describe, expect, test } from "bun:test";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { freePort } from "../../../support/http/free-port.ts";
import { rawRequest, spell } from "../../../support/http/raw-http.ts";
import {
  freshCounterStoreUrl,
  freshDatabase,
  freshRouteStoreUrl,
  type RunningProcess,
  services,
  startProcess,
  startProxy,
  waitFor,
} from "../../../support/index.ts";
import { signingKey, startProvider } from "../../../support/pages/provider-stand-in.ts";
import { ProcessEnded } from "../../../support/processes/start-process.ts";
import { rejection } from "../../../support/rejection.ts";
import { startCollector } from "../../../support/telemetry/collector.ts";

const SECRET = "hunter2";
const { postgres, redis, etcd } = services();
const allReal = postgres.real && redis.real && etcd.real;
const APPS = ["gateway", "registry", "identity", "audit"] as const;
type App = (typeof APPS)[number];

let routeStore = "";
beforeAll(async () => {
  if (etcd.real) routeStore = await freshRouteStoreUrl();
});

async function start(app: string, env: Record<string, string>): Promise<RunningProcess> {
  const process = await startProcess(`apps/${app}/main.ts`, env);
  atTestEnd(() => process.kill());
  return process;
}

/** Returns the environment variables of a service, whose database or counter store has this URL. */
async function variables(app: App, store: string): Promise<Record<string, string>> {
  if (app === "registry") return { DATABASE_URL: store, ADMIN_TOKEN: "token", ROUTE_STORE_URL: routeStore };
  if (app !== "gateway") return { DATABASE_URL: store };
  const provider = startProvider(await signingKey("ES256", "key"));
  atTestEnd(() => provider.stop());
  const peers = { CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:1/validate", AUDIT_ENABLED: "false" };
  const people = { AUTH_ISSUER: "https://issuer.example", AUTH_JWKS_URI: provider.uri };
  return { ROUTE_STORE_URL: routeStore, COUNTER_STORE_URL: store, ...peers, ...people };
}

const statusOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;

describe.skipIf(!allReal).each(APPS)("%s", (app) => {
  const check = app === "gateway" ? "counter_store" : "database";
  const fresh = () => (app === "gateway" ? freshCounterStoreUrl() : freshDatabase());

  // OP-2, OP-3, OP-25, OP-26, OP-27, OP-28, OP-29, OP-32, OP-46, ER-16, GW-160, ID-108, AU-73
  test("logs its ports, is probed, loses its store, drains, and exits with 1 at a second signal", async () => {
    await using collector = startCollector();
    const store = await startProxy(await fresh());
    atTestEnd(() => store.close());
    const service = await start(app, {
      ...(await variables(app, store.url)),
      SHUTDOWN_GRACE_MS: "600000",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    });
    const { internalUrl, url } = service;
    const ready = `${internalUrl}/health/ready`;
    const logged = (message: RegExp) => service.logs().filter((line) => message.test(String(line.message)));
    expect(logged(/^listening$/)).toMatchObject([
      { level: "info", service: app, port: expect.any(Number), internal_port: expect.any(Number) },
    ]);
    await waitFor(async () => (await statusOf(ready)) === 200);

    for (const path of ["/health/live", "/health/ready", "/metrics"]) {
      for (const method of ["GET", "HEAD"])
        expect(await statusOf(`${internalUrl}${path}?at=1&at=2`, { method })).toBe(200);
    }
    expect(await (await fetch(`${internalUrl}/health/live`)).json()).toEqual({ status: "healthy" });
    expect(await statusOf(`${internalUrl}/health/live`, { method: "POST" })).toBe(405);
    await waitFor(() => logged(/^request /).length > 0);
    expect(logged(/^request /)).toMatchObject([
      { message: "request completed", method: "POST", status: 405 },
    ]);
    expect(await statusOf(`${url}/metrics`)).not.toBe(200);
    const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
    expect(metrics).toContain('http_requests_total{route="/health/live",method="GET",status="200"}');
    expect(metrics).toContain("process_resident_memory_bytes");

    for (const line of ["GET /health/live HTTP/1.0", "OPTIONS /nowhere HTTP/1.0"]) {
      const { status } = await rawRequest(internalUrl, `${line}\r\n\r\n`);
      expect(status).toBe(line.startsWith("GET") ? 200 : 404);
    }
    for (const host of ["a b", "a%b", "[::1", "a:99999", "a, b"]) {
      for (const port of [internalUrl, url]) {
        const { status, body } = await rawRequest(port, spell("GET", "/health/live", { Host: host }));
        expect([host, status, JSON.parse(body.toString()).error.code]).toEqual([
          host,
          400,
          "INVALID_REQUEST",
        ]);
      }
    }

    const before = logged(/ready/).length;
    store.cut();
    await waitFor(async () => (await statusOf(ready)) === 503);
    expect([await statusOf(ready), await statusOf(`${internalUrl}/health/live`)]).toEqual([503, 200]);
    store.heal();
    await waitFor(async () => (await statusOf(ready)) === 200);
    await waitFor(() => logged(/^ready again$/).length > 0);
    const lines = logged(/ready/).slice(before);
    expect(lines).toMatchObject([
      { level: "warn", message: "not ready", checks: { [check]: "unavailable" } },
      { level: "info", message: "ready again" },
    ]);
    expect(JSON.stringify(lines)).not.toContain(new URL(store.url).port);

    process.kill(service.pid, "SIGINT");
    await waitFor(async () => (await statusOf(ready)) === 503);
    expect(await (await fetch(ready)).json()).toEqual({
      status: "unhealthy",
      checks: { service: "shutting down" },
    });
    expect(await statusOf(`${internalUrl}/health/live`)).toBe(200);
    expect(await statusOf(`${url}/nowhere`)).toBeGreaterThanOrEqual(400);
    const drains = (line: object) => Bun.inspect(line).includes("shutting down");
    const line = await waitFor(() => logged(/^not ready$/).find(drains), { what: "the line of the drain" });
    expect(line.level).toBe("info");
    expect(await service.stop("SIGTERM")).toBe(1);
    expect(collector.spans.filter(({ name }) => name === "GET /health/live")).toEqual([]);
  });

  // OP-3, OP-30, OP-32
  test("exits with 0 at two signals at the same time, because package runners send them so", async () => {
    const service = await start(app, await variables(app, await fresh()));
    expect(await Promise.all([service.stop("SIGINT"), service.stop("SIGINT")])).toEqual([0, 0]);
    expect(service.stderr).toEqual([]);
  });
});

// OP-6, OP-35, OP-134
test("a misspelled variable is one warning, and SIGUSR2 turns debug lines on and off", async () => {
  const meant = "INTERNAL_AUTH_TOKN is not a variable of this service: did you mean INTERNAL_AUTH_TOKEN?";
  const audit = await start("audit", { DATABASE_URL: "pglite://memory", INTERNAL_AUTH_TOKN: SECRET });
  const lines = (message: string) => audit.logs().filter((line) => line.message === message);
  const switched = () => audit.logs().filter(({ log_level }) => log_level !== undefined);
  const ask = async () => {
    const before = lines("request completed").length;
    expect(await statusOf(`${audit.url}/nowhere`)).toBe(404);
    await waitFor(() => lines("request completed").length > before);
  };
  await ask();
  for (const times of [1, 2]) {
    process.kill(audit.pid, "SIGUSR2");
    await waitFor(() => switched().length === times);
    await ask();
  }
  expect(switched().map(({ log_level }) => log_level)).toEqual(["debug", "info"]);
  expect(lines("request refused")).toMatchObject([{ level: "debug", code: "NOT_FOUND" }]);
  expect(await audit.stop()).toBe(0);
  expect(lines(meant)).toMatchObject([{ level: "warn", service: "audit" }]);
  expect(audit.stdout.join("\n")).not.toContain(SECRET);
});

/** Expects that a service does not start and that its output has no secret. */
async function refusal(app: string, env: Record<string, string>): Promise<ProcessEnded> {
  const failure = await rejection(startProcess(`apps/${app}/main.ts`, env));
  if (!(failure instanceof ProcessEnded)) throw failure;
  expect([...failure.stdout, ...failure.stderr].join("\n")).not.toContain(SECRET);
  return failure;
}

const GATEWAY = {
  COUNTER_STORE_URL: "memory://",
  CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:9/validate",
  AUDIT_ENABLED: "false",
};

// OP-14
test.each([
  ["identity", "DATABASE_URL", `postgres://u:${SECRET}@127.0.0.1:${freePort()}/x`],
  ["gateway", "ROUTE_STORE_URL", `http://u:${SECRET}@127.0.0.1:${freePort()}`],
])("%s exits with 1 and names %s if the store does not respond", async (app, variable, url) => {
  const env = app === "gateway" ? GATEWAY : {};
  expect(await refusal(app, { ...env, [variable]: url })).toMatchObject({
    exitCode: 1,
    stderr: [expect.stringMatching(new RegExp(`^Could not start: .*${variable}`))],
  });
});

describe.skipIf(!etcd.real)("with a route store", () => {
  // RG-101, OP-14
  test("a user that the store refuses is exit code 1, with the name of the variable", async () => {
    const ROUTE_STORE_URL = routeStore.replace("//", `//root:${SECRET}@`);
    const registry = { DATABASE_URL: await freshDatabase(), ADMIN_TOKEN: "token" };
    for (const [app, env] of Object.entries({ gateway: GATEWAY, registry })) {
      expect(await refusal(app, { ...env, ROUTE_STORE_URL })).toMatchObject({
        exitCode: 1,
        stderr: [expect.stringMatching(/^Could not start: .*ROUTE_STORE_URL/)],
      });
    }
  });

  // GW-161, OP-15
  test("a gateway without an issuer and a counter store starts, says so, and is not ready", async () => {
    const COUNTER_STORE_URL = `redis://:${SECRET}@127.0.0.1:${freePort()}`;
    const gateway = await start("gateway", { ...GATEWAY, ROUTE_STORE_URL: routeStore, COUNTER_STORE_URL });
    await waitFor(() => gateway.logs().some(({ message }) => String(message).includes("COUNTER_STORE_URL")));
    const line = await waitFor(() => gateway.logs().find((each) => "missing" in each));
    expect(line).toMatchObject({ level: "warn", missing: ["AUTH_ISSUER", "AUTH_JWKS_URI"] });
    expect(await statusOf(`${gateway.internalUrl}/health/ready`)).toBe(503);
    expect(gateway.stdout.join("\n")).not.toContain(SECRET);
  });

  // GW-157, OP-4
  test("gateways with REUSE_PORT share PORT, and both serve; every other program is refused", async () => {
    const env = { ...GATEWAY, ROUTE_STORE_URL: routeStore, REUSE_PORT: "true" };
    const first = await start("gateway", env);
    const PORT = new URL(first.url).port;
    const second = await start("gateway", { ...env, PORT });
    expect(second.url).toBe(first.url);
    const served = async ({ internalUrl }: RunningProcess) =>
      /^http_requests_total\{route="unmatched".*\} \d+$/m.test(
        await (await fetch(`${internalUrl}/metrics`)).text(),
      );
    await waitFor(async () => {
      const headers = { Connection: "close" };
      await Promise.all(Array.from({ length: 20 }, () => fetch(`${first.url}/nowhere`, { headers })));
      return (await served(first)) && (await served(second));
    });
    const held = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    atTestEnd(() => held.stop(true));
    const inUse = (port: string, user: string) =>
      `  PORT is ${port}, which is in use on 127.0.0.1 by ${user}: stop that program, or set another port.`;
    const alone = await refusal("gateway", { ...env, REUSE_PORT: "false", PORT });
    expect(alone.stderr).toContain(inUse(PORT, "another program"));
    const shared = await refusal("gateway", { ...env, PORT: String(held.port) });
    expect([shared.exitCode, shared.stderr.at(-1)]).toEqual([
      78,
      inUse(String(held.port), "a program that does not share the port"),
    ]);
  });
});

// OP-4
test("one of four processes that start at the same moment gets the port, and the others name it", async () => {
  const PORT = String(freePort());
  const outcomes = await Promise.all(
    [1, 2, 3, 4].map(() =>
      start("demo", { IDENTITY_PROVIDER_PORT: "0", PORT }).catch((error: unknown) => error),
    ),
  );
  const refused = outcomes.flatMap((each) => (each instanceof ProcessEnded ? [each] : []));
  expect(refused.map(({ exitCode }) => exitCode)).toEqual([78, 78, 78]);
  for (const { stderr } of refused) expect(stderr.at(-1)).toContain(`PORT is ${PORT}, which is in use on`);
});
