import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import {
  freshCounterStoreUrl,
  freshDatabase,
  freshRouteStoreUrl,
  type RunningProcess,
  services,
  startProcess,
  waitFor,
} from "../../../support/index.ts";
import { ROOT } from "../../../support/root.ts";
import { interpolated, PARTS, service } from "./file.ts";
import { Secrets, WITH_DATABASE } from "./secrets.ts";

const { postgres, redis, etcd } = services();
const HEALTH = "apps/platform/health/main.ts";

describe.skipIf(!postgres.real || !redis.real || !etcd.real)(
  "the services with the environment variables and secrets of compose.yaml",
  () => {
    const running = new Map<string, RunningProcess>();
    const settings = new Map<string, string>();
    /** Paths and URLs inside the containers, mapped to the paths and URLs that replace them in this test. */
    const places = new Map<string, string>();
    let secrets: Secrets;
    let keySet: ReturnType<typeof Bun.serve>;

    beforeAll(async () => {
      const { publicKey } = await generateKeyPair("ES256");
      const key = await exportJWK(publicKey);
      keySet = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ keys: [key] }) });
      settings.set("AUTH_ISSUER", "https://id.example.com").set("AUTH_JWKS_URI", keySet.url.href);
      secrets = await Secrets.make();
      const database = await freshDatabase();
      for (const name of WITH_DATABASE) await secrets.write(`${name}-database-url`, database);
      places
        .set("/run/secrets/", `${secrets.folder}/`)
        .set("/run/roles.yaml", join(ROOT, "seeds/roles.yaml"))
        .set("/run/operators.yaml", join(ROOT, "seeds/operators.yaml"))
        .set("http://etcd:2379", await freshRouteStoreUrl())
        .set("redis://redis:6379", await freshCounterStoreUrl());
      for (const [name, app] of Object.entries(PARTS)) {
        const started = await startProcess(`apps/${app}/main.ts`, environment(name));
        running.set(name, started);
        const internal_port = { identity: 3001, audit: 3003, registry: 5003, gateway: 8000 }[app];
        places.set(`http://${app}:${internal_port}`, started.internalUrl);
      }
    }, 60_000);
    afterAll(async () => {
      await Promise.all([...running.values()].map((each) => each.stop()));
      await keySet.stop(true);
    });

    /** Returns the environment variables of a container. Paths and URLs are replaced through `places`. */
    function environment(name: string): Record<string, string> {
      const given = Object.entries(service(name).environment ?? {}).map(([variable, value]) => {
        let text = interpolated(value, settings);
        for (const [from, to] of places) text = text.replace(from, to);
        return [variable, text];
      });
      return Object.fromEntries(given);
    }

    test.each(Object.keys(PARTS))(
      "%s becomes ready, and the health check of the image succeeds",
      async (name) => {
        const { internalUrl = "" } = running.get(name) ?? {};
        await waitFor(async () => (await fetch(`${internalUrl}/health/ready`)).status === 200, {
          what: `${name} to be ready`,
        });
        const { port } = new URL(internalUrl);
        const asked = Bun.spawnSync(["bun", HEALTH], {
          cwd: ROOT,
          env: { ...process.env, INTERNAL_PORT: port },
        });
        expect({ exitCode: asked.exitCode, said: `${asked.stdout}` }).toEqual({ exitCode: 0, said: "" });
      },
    );
  },
);
