import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Services } from "@ostiary/lib/contracts/registry-api";
import { Value } from "@sinclair/typebox/value";
import postgres from "postgres";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { fields, type Registry, service, startRegistry } from "./harness.ts";

describe.skipIf(!services().postgres.real)("current services that today's rules would refuse", () => {
  let registry: Registry;
  let sql: postgres.Sql;
  beforeAll(async () => {
    registry = await startRegistry();
    sql = postgres(registry.databaseUrl, { onnotice: () => {} });
  });
  afterAll(async () => {
    await sql.end();
    await registry.stop();
  });

  const invalid = async () => (await registry.call("GET", "/services?invalid=true")).body;
  /** Overwrites the config of a service in the database. An older version would have accepted this config. */
  const age = async (name: string, config: unknown) => {
    await sql`update routes.revisions set config = ${JSON.stringify(config)}::text::json where service = ${name}`;
  };
  const shouting = { url: "host:80", user: { routes: [{ path: "/Shout/", methods: ["GET"] }] } };

  // RG-60
  test("are found at boot, without delaying it, and named in the log", async () => {
    const databaseUrl = await freshDatabase();
    const first = await startRegistry({ databaseUrl });
    const names = Array.from({ length: 60 }, (_, index) => `s-${String(index).padStart(3, "0")}`);
    await first.apply(Object.fromEntries(names.map((name) => [name, service(`/${name}`)])));
    await first.stop();
    const own = postgres(databaseUrl, { onnotice: () => {} });
    await own`update routes.revisions set config = ${JSON.stringify(shouting)}::text::json where service < 's-030'`;
    await own.end();
    const LOG_FILE = join(temporaryFolder("log"), "registry.log");
    const started = await startRegistry({ databaseUrl, env: { LOG_FILE } });
    const text = await waitFor(async () =>
      (await readFile(LOG_FILE, "utf8"))
        .split("\n")
        .find((each) => each.includes("break the rules of this version")),
    );
    const line = JSON.parse(text);
    expect(line).toMatchObject({ level: "warn", count: 30 });
    expect(line.services).toHaveLength(20);
    const { body } = await started.call("GET", "/services?invalid=true");
    expect(Object.keys(body.invalid)).toEqual(names.slice(0, 30));
    await started.stop();
  });

  // RG-60, RG-68
  test("are listed with every violation that a restore would report, until they are fixed or deleted", async () => {
    await registry.apply({ mended: service("/mended"), deleted: service("/deleted") });
    await age("mended", shouting);
    await age("deleted", { url: "http://a:1" });
    // Restart the registry, because it checks services only at start and when it writes them.
    await registry.stop();
    registry = await startRegistry({ databaseUrl: registry.databaseUrl });
    const found = await invalid();
    expect(Value.Check(Services, found)).toBe(true);
    const refused = await registry.call("POST", "/services/mended/revisions/1/restore");
    expect(refused.status).toBe(422);
    expect(found.invalid.mended).toEqual(fields(refused));
    expect(Object.keys(found.invalid)).toEqual(["deleted", "mended"]);
    expect(found.services).toEqual({ deleted: { url: "http://a:1" }, mended: shouting });
    expect((await registry.call("GET", "/services")).body.services.mended).toEqual(shouting);
    await registry.put("mended", service("/mended"));
    expect(Object.keys((await invalid()).invalid)).toEqual(["deleted"]);
    await registry.call("DELETE", "/services/deleted");
    expect((await invalid()).invalid).toEqual({});
  });

  test("are not listed with invalid=false, and any other value is 422", async () => {
    expect(Object.keys((await registry.call("GET", "/services?invalid=false")).body)).toEqual(["services"]);
    for (const query of ["invalid=true&invalid=true", "valid=true"]) {
      expect([query, (await registry.call("GET", `/services?${query}`)).status]).toEqual([query, 422]);
    }
    expect((await registry.call("GET", "/services/fine?invalid=true")).status).toBe(422);
  });
});
