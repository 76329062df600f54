/** Tests a registry that is started again after a newer version has stored configs that it cannot read. */
import { describe, expect, test } from "bun:test";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { type Orm, openDatabase } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { closing, duringTests } from "../../support/during-tests.ts";
import { freshDatabase, services } from "../../support/stores/services.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { fields, projected, type Registry, service, startRegistry } from "./bed.ts";

const good = service("/good/{id}");
/** Configs that this version cannot read, each with the path of its first violation. */
const NEWER: Record<string, { config: unknown; path: string }> = {
  field: { config: { ...service("/newer/field"), mirror: { url: "http://mirror:1" } }, path: "mirror" },
  other_shape: { config: { version: 2, upstreams: [{ host: "a" }] }, path: "url" },
  routes: {
    config: { url: "http://a:1", user: { routes: [{ path: "/newer/routes", methods: ["QUERY"] }] } },
    path: "user.routes[0].methods[0]",
  },
  list: { config: ["http://a:1"], path: "" },
};
const NAMES = Object.keys(NEWER).toSorted();

/** An embedded database in memory would not outlive the first registry. */
const isReal = services().postgres.real;
const registry = duringTests(isReal ? startBehindNewer : () => startRegistry());

/** Starts a registry on a database with the configs of {@link NEWER}, written directly to the tables. */
async function startBehindNewer(): Promise<Registry> {
  const databaseUrl = await freshDatabase();
  const earlier = await startRegistry({ databaseUrl });
  for (const name of [...NAMES, "good"])
    await earlier.put(name, name === "good" ? good : service(`/old/${name}`));
  await earlier.stop();
  await store(databaseUrl, async (orm) => {
    for (const name of NAMES) {
      await orm.execute(sql`
        insert into routes.revisions (service, revision, action, config, request_id)
        values (${name}, 2, 'put', ${JSON.stringify(NEWER[name]?.config)}::json, 'of-the-newer-version')`);
      await orm.execute(sql`
        update routes.services set revision = 2, fence = fence + 1000 where name = ${name}`);
    }
  });
  return startRegistry({ databaseUrl });
}

async function store(databaseUrl: string, write: (orm: Orm) => Promise<void>): Promise<void> {
  await using database = closing(await openDatabase(databaseUrl, { namespace: "newer" }));
  await database.run("write", write);
}

const get = (path: string) => registry.call("GET", path);

// RG-103, RG-104
describe.skipIf(!isReal)("a config that a newer version wrote", () => {
  test("is listed as unreadable, and the list has all other services", async () => {
    const { status, body } = await get("/services");
    expect(status).toBe(200);
    expect(Object.keys(body.services)).toEqual(["good"]);
    expect(Object.keys(body.unreadable)).toEqual(NAMES);
    for (const name of NAMES) expect(body.unreadable[name][0].path).toBe(NEWER[name]?.path);
  });

  test.each(NAMES)("is 409 for %s, and the message says what to do", async (name) => {
    for (const path of [`/services/${name}`, `/services/${name}/revisions/1/diff/2`]) {
      const { status, body } = await get(path);
      expect(status).toBe(409);
      expect(body.error).toMatchObject({ code: "CONFLICT", details: { field: "revision", value: "2" } });
      expect(body.error.message).toContain("Restore an earlier revision");
    }
  });

  test.each(NAMES)("is in the history of %s, together with readable revisions", async (name) => {
    const { status, body } = await get(`/services/${name}/revisions`);
    expect(status).toBe(200);
    const [newer, older] = body.revisions;
    expect(newer).toMatchObject({ revision: 2, config: null });
    expect(newer.unreadable[0].path).toBe(NEWER[name]?.path);
    expect(older.config.url).toBe(service("/x").url);
    expect(older).not.toHaveProperty("unreadable");
    expect((await get(`/services/${name}/revisions/2`)).body).toEqual(newer);
    expect((await get(`/services/${name}/revisions/1`)).status).toBe(200);
  });

  test("is not in the route look-up and the edge description, and stays in the route store", async () => {
    expect((await get("/routes?method=GET&path=/good/1")).body.service).toBe("good");
    expect((await get("/routes?method=GET&path=/newer/field")).status).toBe(404);
    const edge = await get("/edge/openapi.json");
    expect(edge.status).toBe(200);
    expect(Object.keys(edge.body.paths)).toEqual(["/good/{id}"]);
    // The route store keeps the config, because gateways of the newer version can read it.
    await waitFor(async () => (await registry.routeStore.get(`${ROUTES_PREFIX}field`)) !== null);
    expect(JSON.parse((await registry.routeStore.get(`${ROUTES_PREFIX}field`))?.value ?? "")).toEqual(
      NEWER.field?.config,
    );
  });

  test("is refused by restore with its violations, and a dry run shows any replacement as changed", async () => {
    const restored = await registry.call("POST", "/services/field/revisions/2/restore");
    expect(restored.status).toBe(422);
    expect(fields(restored)[0]?.path).toBe("mirror");
    const plan = await registry.call("POST", "/apply?dry_run=true", {
      services: { field: service("/old/field") },
    });
    expect(plan.body.results[0]).toMatchObject({ service: "field", status: "changed", revision: 2 });
  });
});

test.skipIf(!isReal)("restore, put, apply and delete replace an unreadable config", async () => {
  await using own = await startBehindNewer();
  expect((await own.call("POST", "/services/field/revisions/1/restore")).status).toBe(200);
  expect((await own.put("list", service("/again/list"))).status).toBe(200);
  expect((await own.apply({ other_shape: service("/again/other") })).status).toBe(200);
  expect((await own.call("DELETE", "/services/routes")).status).toBe(204);
  const { body } = await own.call("GET", "/services");
  expect(body).not.toHaveProperty("unreadable");
  expect(Object.keys(body.services)).toEqual(["field", "good", "list", "other_shape"]);
  expect((await own.call("GET", "/routes?method=GET&path=/old/field")).body.service).toBe("field");
  await waitFor(async () => !Object.hasOwn(await projected(own.routeStore), "routes"));
});
