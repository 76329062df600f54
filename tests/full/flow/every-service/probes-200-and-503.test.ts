import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { rawRequest, spell } from "../../../support/http/raw-http.ts";
import {
  freshCounterStoreUrl,
  freshDatabase,
  freshRouteStoreUrl,
  type RunningProcess,
  type Proxy as StoreProxy,
  services,
  startProcess,
  startProxy,
  waitFor,
} from "../../../support/index.ts";
import { startCollector } from "../../../support/telemetry/collector.ts";

setDefaultTimeout(60_000);

const { postgres, redis, etcd } = services();
const allReal = postgres.real && redis.real && etcd.real;
const PROBES = ["/health/live", "/health/ready", "/metrics"];

/** A service, the proxy to one of its stores, and the name of the readiness check of that store. */
interface Probed {
  service: RunningProcess;
  store: StoreProxy;
  check: string;
}

const checks = { gateway: "counter_store", registry: "database", identity: "database", audit: "database" };
type App = keyof typeof checks;

/** The store of each service and the route store. No test changes what is in them. */
const stores = { gateway: "", registry: "", identity: "", audit: "", routes: "" };
beforeAll(async () => {
  if (!allReal) return;
  stores.gateway = await freshCounterStoreUrl();
  stores.routes = await freshRouteStoreUrl();
  for (const app of ["registry", "identity", "audit"] as const) stores[app] = await freshDatabase();
});

async function start(app: App, env: Record<string, string> = {}): Promise<Probed> {
  const store = await startProxy(stores[app]);
  atTestEnd(() => store.close());
  const service = await startProcess(
    `apps/${app}/main.ts`,
    { ...(await variables(app, store.url)), ...env },
    { source: true },
  );
  atTestEnd(() => service.kill());
  return { service, store, check: checks[app] };
}

async function variables(app: App, store: string): Promise<Record<string, string>> {
  switch (app) {
    case "registry":
      return {
        DATABASE_URL: store,
        ADMIN_TOKEN: "token-of-probes",
        ROUTE_STORE_URL: stores.routes,
      };
    case "gateway":
      return {
        ROUTE_STORE_URL: stores.routes,
        COUNTER_STORE_URL: store,
        AUTH_ISSUER: "https://issuer.example",
        AUTH_JWKS_URI: await keySet(),
        CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:1/validate",
        AUDIT_ENABLED: "false",
      };
    default:
      return { DATABASE_URL: store };
  }
}

async function keySet(): Promise<string> {
  const { publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const key = { ...(await crypto.subtle.exportKey("jwk", publicKey)), kid: "k", alg: "ES256", use: "sig" };
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ keys: [key] }) });
  atTestEnd(() => server.stop(true));
  return server.url.href;
}

const ready = async ({ service }: Probed) => (await fetch(`${service.internalUrl}/health/ready`)).status;

/** Waits until all requests so far are logged, and returns the log lines after `listening`. */
async function linesSince({ service }: Probed) {
  const marker = `/marker-${crypto.randomUUID()}`;
  const request_id = crypto.randomUUID();
  await fetch(`${service.internalUrl}${marker}`, { headers: { "X-Request-ID": request_id } });
  const lines = await waitFor(() => {
    const all = service.logs();
    return all.some((line) => line.request_id === request_id) && all;
  });
  const listening = lines.findIndex(({ message }) => message === "listening");
  return lines.slice(listening + 1).filter((line) => line.request_id !== request_id);
}

describe.skipIf(!allReal).each(["gateway", "registry", "identity", "audit"] as const)(
  "probes of %s",
  (app) => {
    // OP-25, OP-28
    test("are counted in metrics, but have no log line and no span", async () => {
      await using collector = startCollector();
      const probed = await start(app, {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        OTEL_METRICS_EXPORTER: "none",
      });
      const { internalUrl } = probed.service;
      await waitFor(async () => (await ready(probed)) === 200);
      for (const path of PROBES) {
        for (const method of ["GET", "HEAD"]) {
          expect((await fetch(`${internalUrl}${path}?at=1&at=2`, { method })).status).toBe(200);
        }
      }
      const wrong = { "X-Request-ID": "wrong-method" };
      expect((await fetch(`${internalUrl}/health/live`, { method: "POST", headers: wrong })).status).toBe(
        405,
      );
      const lines = await linesSince(probed);
      expect(lines.filter(({ message }) => String(message).startsWith("request "))).toMatchObject([
        {
          message: "request completed",
          level: "info",
          method: "POST",
          status: 405,
          request_id: "wrong-method",
        },
      ]);
      expect(await (await fetch(`${internalUrl}/metrics`)).text()).toContain(
        'http_requests_total{route="/health/live",method="GET",status="200"}',
      );
      expect(await probed.service.stop()).toBe(0);
      expect(collector.spans.map(({ name }) => name).toSorted()).toEqual(["GET", "POST"]);
    });

    // ER-16, OP-29
    test("are answered in HTTP/1.0 without a Host header, and get 400 for a malformed Host", async () => {
      const { service } = await start(app);
      for (const line of ["GET /health/live HTTP/1.0", "OPTIONS /nowhere HTTP/1.0"]) {
        const { status } = await rawRequest(service.internalUrl, `${line}\r\n\r\n`);
        expect(status).toBe(line.startsWith("GET") ? 200 : 404);
      }
      for (const url of [service.internalUrl, service.url]) {
        for (const host of [
          "a b",
          "a%b",
          "[::1",
          "a:99999",
          "a:b",
          "999999999999",
          "a<b",
          "caf\xc3\xa9",
          "a, b",
        ]) {
          const { status, body } = await rawRequest(url, spell("GET", "/health/live", { Host: host }));
          expect([host, status, JSON.parse(body.toString()).error.code]).toEqual([
            host,
            400,
            "INVALID_REQUEST",
          ]);
        }
      }
    });

    // GW-160, ID-108, AU-73, OP-26, OP-28
    test("log once that a check fails, and once that the service is ready again", async () => {
      const probed = await start(app);
      await waitFor(async () => (await ready(probed)) === 200);
      const told = async () =>
        (await linesSince(probed)).filter(({ message }) => /ready/.test(String(message)));
      // A service that starts slowly may have been not ready at first.
      const before = (await told()).length;
      for (const round of [1, 2]) {
        probed.store.cut();
        await waitFor(async () => (await ready(probed)) === 503, { timeoutMs: 20_000 });
        expect([await ready(probed), await ready(probed)]).toEqual([503, 503]);
        expect((await fetch(`${probed.service.internalUrl}/health/live`)).status).toBe(200);
        probed.store.heal();
        await waitFor(async () => (await ready(probed)) === 200, { timeoutMs: 20_000 });
        const lines = (await told()).slice(before);
        expect(lines).toHaveLength(2 * round);
        expect(lines.slice(-2)).toMatchObject([
          { level: "warn", message: "not ready", checks: { [probed.check]: "unavailable" } },
          { level: "info", message: "ready again" },
        ]);
        expect(JSON.stringify(lines)).not.toContain(new URL(probed.store.url).port);
      }
    });

    // OP-27
    test("show the service as live and not ready while it drains and still serves requests", async () => {
      const probed = await start(app, { SHUTDOWN_GRACE_MS: "600000" });
      await waitFor(async () => (await ready(probed)) === 200);
      const { service } = probed;
      const told = async () =>
        (await linesSince(probed)).filter(({ message }) => /ready/.test(String(message)));
      const before = (await told()).length;
      process.kill(service.pid, "SIGINT");
      await waitFor(async () => (await ready(probed)) === 503);
      const answer = await fetch(`${service.internalUrl}/health/ready`);
      expect(answer.status).toBe(503);
      expect(await answer.json()).toEqual({ status: "unhealthy", checks: { service: "shutting down" } });
      expect((await fetch(`${service.internalUrl}/health/live`)).status).toBe(200);
      expect((await fetch(`${service.url}/nowhere`)).status).toBeGreaterThanOrEqual(400);
      expect((await told()).slice(before)).toMatchObject([
        { level: "info", message: "not ready", checks: { service: "shutting down" } },
      ]);
    });
  },
);
