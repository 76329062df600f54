import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { exportJWK, generateKeyPair } from "jose";
import { parse } from "yaml";
import {
  freshCounterStoreUrl,
  freshDatabase,
  freshRouteStoreUrl,
  type RunningProcess,
  services,
  startProcess,
  waitFor,
} from "../../support/index.ts";

const Compose = Type.Object({
  services: Type.Record(
    Type.String(),
    Type.Object({
      image: Type.String(),
      command: Type.Optional(Type.Array(Type.String())),
      environment: Type.Optional(Type.Record(Type.String(), Type.String())),
      healthcheck: Type.Optional(Type.Object({ test: Type.Array(Type.String()) })),
      expose: Type.Optional(Type.Array(Type.String())),
    }),
  ),
});

const compose = Value.Parse(
  Compose,
  parse(await Bun.file(`${import.meta.dir}/../../../compose.yaml`).text(), { merge: true }),
);
const apps = ["identity", "audit", "registry", "gateway"];
const { postgres, redis, etcd } = services();

test("compose.yaml asks each service for its health, on the port that tells it", () => {
  for (const app of apps) {
    const { healthcheck, expose, command } = service(app);
    const internal = expose?.at(-1);
    expect(command).toEqual(["bun", `apps/${app}/main.ts`]);
    expect(healthcheck?.test.join(" ")).toContain(`http://127.0.0.1:${internal}/health/ready`);
  }
});

test("compose.yaml runs the Bun that the repository names", async () => {
  const version = (await Bun.file(`${import.meta.dir}/../../../.bun-version`).text()).trim();
  for (const app of apps) expect(service(app).image).toBe(`oven/bun:${version}-slim`);
});

describe.skipIf(!postgres.real || !redis.real || !etcd.real)(
  "the services with compose.yaml's variables",
  () => {
    const running = new Map<string, RunningProcess>();
    const settings = new Map<string, string>();
    let keySet: ReturnType<typeof Bun.serve>;

    beforeAll(async () => {
      const { publicKey } = await generateKeyPair("ES256");
      const key = await exportJWK(publicKey);
      keySet = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ keys: [key] }) });
      settings.set("ADMIN_TOKEN", "admin-token").set("INTERNAL_AUTH_TOKEN", "internal-token");
      settings.set("AUTH_ISSUER", "https://id.example.com").set("AUTH_JWKS_URI", keySet.url.href);
      const [database, routeStore, counterStore] = await Promise.all([
        freshDatabase(),
        freshRouteStoreUrl(),
        freshCounterStoreUrl(),
      ]);
      const addresses = new Map([
        ["postgres://postgres:postgres@postgres:5432/ostiary", database],
        ["http://etcd:2379", routeStore],
        ["redis://redis:6379", counterStore],
      ]);
      for (const app of apps) {
        running.set(app, await startProcess(`apps/${app}/main.ts`, environment(app, addresses)));
        const internal = service(app).expose?.at(-1);
        addresses.set(`http://${app}:${internal}`, running.get(app)?.internal_url ?? "");
      }
    }, 60_000);
    afterAll(async () => {
      await Promise.all([...running.values()].map((each) => each.stop()));
      await keySet.stop(true);
    });

    /** What the app is given, with the names of containers replaced by where the tests run them. */
    function environment(app: string, addresses: Map<string, string>): Record<string, string> {
      const given = Object.entries(service(app).environment ?? {}).map(([name, value]) => {
        let text = value.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, setting, kind, otherwise) => {
          const set = settings.get(setting);
          if (set === undefined && kind === "?") throw new Error(`${setting} must be set: ${otherwise}`);
          return set ?? otherwise;
        });
        for (const [from, to] of addresses) text = text.replace(from, to);
        return [name, text];
      });
      return Object.fromEntries(given);
    }

    test.each(apps)("%s becomes ready", async (app) => {
      const url = `${running.get(app)?.internal_url}/health/ready`;
      await waitFor(async () => (await fetch(url)).status === 200, { what: `${app} becoming ready` });
    });
  },
);

function service(name: string) {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`compose.yaml has no service ${name}.`);
  return found;
}
