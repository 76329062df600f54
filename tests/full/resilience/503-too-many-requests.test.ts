/** Tests that requests beyond MAX_REQUESTS_IN_FLIGHT are refused at once until earlier requests end. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { RawClient, type RawResponse, spell } from "../../support/http/raw-http.ts";
import {
  freshDatabase,
  freshRouteStoreUrl,
  type RunningProcess,
  services,
  startProcess,
  waitFor,
} from "../../support/index.ts";

setDefaultTimeout(180_000);

const ADMIN_TOKEN = "admin-token";

const subjects = {
  registry: {
    env: async () => ({ ADMIN_TOKEN, ROUTE_STORE_URL: await freshRouteStoreUrl() }),
    port: "url",
    held: ["PUT", "/services/widgets"],
    asked: "/services",
  },
  identity: {
    env: async () => ({}),
    port: "url",
    held: ["POST", "/users/01M81C1EC5003XJ208PZ0DYRDB/organizations"],
    asked: "/roles",
  },
  audit: {
    env: async () => ({}),
    port: "internalUrl",
    held: ["POST", "/internal/intents"],
    asked: "/internal/unknown",
  },
} as const;

// ER-19
describe.skipIf(!services().postgres.real || !services().etcd.real).each(Object.entries(subjects))(
  "%s with MAX_REQUESTS_IN_FLIGHT=2",
  (app, { env, port, held, asked }) => {
    const running: RunningProcess[] = [];
    afterAll(async () => {
      for (const service of running) expect(await service.stop()).toBe(0);
    });

    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" };

    async function ask(url: string): Promise<RawResponse> {
      const client = await RawClient.connect(url);
      client.send(spell("GET", asked, headers));
      const response = await client.response();
      client.destroy();
      return response;
    }

    test("refuses a third request while two are incomplete, answers probes, and serves again afterwards", async () => {
      const service = await startProcess(`apps/${app}/main.ts`, {
        DATABASE_URL: await freshDatabase(),
        MAX_REQUESTS_IN_FLIGHT: "2",
        ...(await env()),
      });
      running.push(service);
      const url = service[port];
      const served = (await ask(url)).status;
      expect(served).not.toBe(503);
      const [method, path] = held;
      const holders = await Promise.all([1, 2].map(() => RawClient.connect(url)));
      for (const holder of holders)
        holder.send(spell(method, path, { ...headers, "Content-Length": "100" }, "{"));
      const refusal = await waitFor(
        async () => {
          const response = await ask(url);
          return response.status === 503 && response;
        },
        { what: "the refusal of a request" },
      );
      expect(refusal.headers).toContainEqual(["Retry-After", "1"]);
      expect(refusal.headers).toContainEqual(["Connection", "close"]);
      expect(JSON.parse(refusal.body.toString()).error).toMatchObject({
        type: "api_error",
        code: "SERVICE_UNAVAILABLE",
        details: null,
      });
      for (const probe of ["/health/live", "/health/ready", "/metrics"]) {
        expect((await fetch(service.internalUrl + probe)).status).toBe(200);
      }
      for (const holder of holders) holder.destroy();
      await waitFor(async () => (await ask(url)).status === served, { what: "a response to a new request" });
    });
  },
);
