import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import {
  freshDatabase,
  ProcessEnded,
  rejection,
  services,
  startEtcd,
  startPostgres,
  startProcess,
  waitFor,
} from "../../support/index.ts";
import { ADMIN_TOKEN, current, projected, service, startRegistry, startRegistryProcess } from "./harness.ts";

const directories: string[] = [];
afterAll(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true }))));

/** A directory with the files given; what is no text is written as YAML. */
async function seedDirectory(files: Record<string, unknown>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ostiary-seeds-"));
  directories.push(directory);
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(directory, name), typeof content === "string" ? content : stringify(content));
  }
  return directory;
}

describe("SEED_ROUTES_DIR", () => {
  test("is applied in name order, *.yaml and *.yml and nothing else", async () => {
    const SEED_ROUTES_DIR = await seedDirectory({
      "10-first.yaml": { services: { first: service("/first"), both: service("/both/first") } },
      "20-second.yml": { services: { second: service("/second"), both: service("/both/second") } },
      "30-other.json": { services: { json: service("/json") } },
      "notes.txt": "not: [yaml",
    });
    const registry = await startRegistry({ env: { SEED_ROUTES_DIR } });
    expect<unknown>(await current(registry)).toEqual({
      first: service("/first"),
      second: service("/second"),
      both: service("/both/first"),
    });
    const { body } = await registry.call("GET", "/services/first/revisions");
    expect(body.revisions).toEqual([expect.objectContaining({ revision: 1, action: "apply" })]);
    await waitFor(async () => Object.keys(await projected(registry.routeStore)).length === 3);
    await registry.stop();
  });

  test("never touches a service that has a history, deleted or not", async () => {
    const database_url = await freshDatabase();
    // in memory nothing would be left for the second start
    if (database_url.startsWith("pglite:")) return;
    const before = await startRegistry({ database_url });
    await before.put("kept", service("/kept/by-hand"));
    await before.put("deleted", service("/deleted"));
    await before.call("DELETE", "/services/deleted");
    await before.stop();
    const SEED_ROUTES_DIR = await seedDirectory({
      "seeds.yaml": {
        services: { kept: service("/kept/seed"), deleted: service("/deleted"), fresh: service("/fresh") },
      },
    });
    for (let start = 0; start < 2; start++) {
      const registry = await startRegistry({ database_url, env: { SEED_ROUTES_DIR } });
      expect<unknown>(await current(registry)).toEqual({
        kept: service("/kept/by-hand"),
        fresh: service("/fresh"),
      });
      const { body } = await registry.call("GET", "/services/deleted/revisions");
      expect(body.revisions).toHaveLength(2);
      expect((await registry.call("GET", "/services/fresh")).body.revision).toBe(1);
      await registry.stop();
    }
  });

  test.skipIf(!services().postgres.real)("is applied once by registries that start together", async () => {
    const SEED_ROUTES_DIR = await seedDirectory({
      "seeds.yaml": { services: { seeded: service("/seeded") } },
    });
    const database_url = await freshDatabase();
    const registries = await Promise.all(
      Array.from({ length: 5 }, () => startRegistry({ database_url, env: { SEED_ROUTES_DIR } })),
    );
    const [first] = registries;
    expect((await first?.call("GET", "/services/seeded"))?.body.revision).toBe(1);
    await Promise.all(registries.map((registry) => registry.stop()));
  });

  test.each([
    ["a broken file", { "a.yaml": "services: {" }, ["a.yaml", "not valid"]],
    [
      "a file that breaks the rules",
      { "a.yaml": { services: { x: { ...service("/x"), url: "https://a:1" } } } },
      ["a.yaml", "services.x.url", "TLS"],
    ],
    [
      "a file that collides with another",
      {
        "a.yaml": { services: { one: service("/same") } },
        "b.yaml": { services: { two: service("/same") } },
      },
      ["b.yaml", "GET /same belongs to service one"],
    ],
  ])("with %s stops the start and says which and why", async (_, files, parts) => {
    const error = await rejection(startRegistry({ env: { SEED_ROUTES_DIR: await seedDirectory(files) } }));
    for (const part of parts) expect(String(error)).toContain(part);
  });

  test("that does not exist stops the start", async () => {
    const error = await rejection(startRegistry({ env: { SEED_ROUTES_DIR: "/does/not/exist" } }));
    expect(String(error)).toContain("SEED_ROUTES_DIR must be a readable directory");
  });

  test("is read by the process too, whose refusal is exit code 78", async () => {
    const ended = await rejection(
      startProcess("apps/registry/main.ts", {
        DATABASE_URL: await freshDatabase(),
        ROUTE_STORE_URL: "http://127.0.0.1:1",
        ADMIN_TOKEN,
        SEED_ROUTES_DIR: await seedDirectory({ "a.yml": "services: 1" }),
      }),
    );
    expect(ended).toBeInstanceOf(ProcessEnded);
    expect(ended).toMatchObject({ exit_code: 78 });
    expect(String(ended)).toContain("a.yml");
  });
});

describe("the internal port", () => {
  const get = (url: string, path: string) => fetch(`${url}${path}`);

  test("tells live and ready, with no token asked", async () => {
    const registry = await startRegistry();
    for (const path of ["/health/live", "/health/ready"]) {
      const response = await get(registry.internal_url, path);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: "healthy" });
    }
    expect((await get(registry.internal_url, "/services")).status).toBe(404);
    await registry.stop();
  });

  test("counts requests, operations on both stores, and projections", async () => {
    const registry = await startRegistry();
    await registry.put("counted", service("/counted"));
    await registry.call("GET", "/services/unknown");
    await waitFor(async () => "counted" in (await projected(registry.routeStore)));
    const text = await waitFor(async () => {
      const scrape = await (await get(registry.internal_url, "/metrics")).text();
      // the comparison at start may have been as quick
      const written = /^registry_projections_total\{result="written"\} [1-9]/m.test(scrape);
      return written && scrape.includes("registry_projections_outstanding 0") && scrape;
    });
    for (const line of [
      'http_requests_total{route="/services/{name}",method="PUT",status="200"} 1',
      'http_requests_total{route="/services/{name}",method="GET",status="404"} 1',
      'http_request_duration_seconds_count{route="/services/{name}",method="PUT"} 1',
      'db_operations_total{db_system_name="postgresql",db_operation_name="put",db_namespace="routes"} 1',
      'db_operation_duration_seconds_count{db_system_name="postgresql",db_operation_name="put",db_namespace="routes"} 1',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toMatch(/^process_start_time_seconds \d+$/m);
    await registry.stop();
  });

  test.skipIf(!services().etcd.own)("counts operations on etcd by their prefix", async () => {
    const etcd = await startEtcd();
    const registry = await startRegistryProcess({
      DATABASE_URL: await freshDatabase(),
      ROUTE_STORE_URL: etcd.url,
    });
    await registry.put("counted", service("/counted"));
    await waitFor(async () => {
      const text = await (await get(registry.internal_url, "/metrics")).text();
      return /^db_operations_total\{db_system_name="etcd",db_operation_name="write_fenced",db_namespace="edge\/gateway\/routes"\} [1-9]/m.test(
        text,
      );
    });
    expect(await registry.stop()).toBe(0);
    await etcd.close();
  });

  test.skipIf(!services().etcd.own || !services().postgres.own)(
    "is ready exactly while the database and the route store both answer",
    async () => {
      const [etcd, postgres] = await Promise.all([startEtcd(), startPostgres()]);
      const registry = await startRegistryProcess({ DATABASE_URL: postgres.url, ROUTE_STORE_URL: etcd.url });
      const ready = async () => {
        const response = await get(registry.internal_url, "/health/ready");
        return { status: response.status, body: await response.json() };
      };
      const checks = (database: string, route_store: string) => ({
        status: 503,
        body: { status: "unhealthy", checks: { database, route_store } },
      });
      const become = (expected: unknown) =>
        waitFor(async () => Bun.deepEquals(await ready(), expected), { what: JSON.stringify(expected) });
      const healthy = { status: 200, body: { status: "healthy" } };
      await become(healthy);
      await etcd.kill();
      await become(checks("ok", "unavailable"));
      await postgres.kill();
      await become(checks("unavailable", "unavailable"));
      await etcd.restart();
      await become(checks("unavailable", "ok"));
      await postgres.restart();
      await become(healthy);
      expect((await get(registry.internal_url, "/health/live")).status).toBe(200);
      expect(await registry.stop()).toBe(0);
      await Promise.all([etcd.close(), postgres.close()]);
    },
    60_000,
  );

  test("starts while the route store is away, and projects when it comes", async () => {
    if (!services().etcd.own) return;
    const etcd = await startEtcd();
    await etcd.kill();
    const registry = await startRegistryProcess({
      DATABASE_URL: await freshDatabase(),
      ROUTE_STORE_URL: etcd.url,
    });
    expect((await registry.put("early", service("/early"))).status).toBe(200);
    expect((await get(registry.internal_url, "/health/ready")).status).toBe(503);
    const outstanding = async (count: number) =>
      (await (await get(registry.internal_url, "/metrics")).text()).includes(
        `registry_projections_outstanding ${count}`,
      );
    await waitFor(() => outstanding(1));
    await etcd.restart();
    await waitFor(() => outstanding(0));
    expect((await get(registry.internal_url, "/health/ready")).status).toBe(200);
    await registry.stop();
    await etcd.close();
  });
});
