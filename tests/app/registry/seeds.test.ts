import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { freshDatabase, rejection, services, waitFor } from "../../support/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { current, projected, service, startRegistry } from "./bed.ts";

/** Creates a directory with these files. Strings are written unchanged, and other values as YAML. */
async function seedDirectory(files: Record<string, unknown>): Promise<string> {
  const directory = temporaryFolder("seeds");
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(directory, name), typeof content === "string" ? content : stringify(content));
  }
  return directory;
}

describe("SEED_ROUTES_DIR", () => {
  // RG-100
  test("is applied in the order of file names, *.yaml and *.yml only", async () => {
    const SEED_ROUTES_DIR = await seedDirectory({
      "10-first.yaml": { services: { first: service("/first"), both: service("/both/first") } },
      "20-second.yml": { services: { second: service("/second"), both: service("/both/second") } },
      "30-other.json": { services: { json: service("/json") } },
      "notes.txt": "not: [yaml",
    });
    await using registry = await startRegistry({ env: { SEED_ROUTES_DIR } });
    expect<unknown>(await current(registry)).toEqual({
      first: service("/first"),
      second: service("/second"),
      both: service("/both/first"),
    });
    const { body } = await registry.call("GET", "/services/first/revisions");
    expect(body.revisions).toEqual([expect.objectContaining({ revision: 1, action: "apply" })]);
    await waitFor(async () => Object.keys(await projected(registry.routeStore)).length === 3);
  });

  // RG-100
  test("never changes a service that has revisions, even if it is deleted", async () => {
    const databaseUrl = await freshDatabase();
    // An embedded database is gone after the first registry stops, so the second start would find no history.
    if (databaseUrl.startsWith("pglite:")) return;
    const before = await startRegistry({ databaseUrl });
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
      await using registry = await startRegistry({ databaseUrl, env: { SEED_ROUTES_DIR } });
      expect<unknown>(await current(registry)).toEqual({
        kept: service("/kept/by-hand"),
        fresh: service("/fresh"),
      });
      const { body } = await registry.call("GET", "/services/deleted/revisions");
      expect(body.revisions).toHaveLength(2);
      expect((await registry.call("GET", "/services/fresh")).body.revision).toBe(1);
    }
  });

  test.skipIf(!services().postgres.real)("is applied once by registries that start together", async () => {
    const SEED_ROUTES_DIR = await seedDirectory({
      "seeds.yaml": { services: { seeded: service("/seeded") } },
    });
    const databaseUrl = await freshDatabase();
    const registries = await Promise.all(
      Array.from({ length: 5 }, () => startRegistry({ databaseUrl, env: { SEED_ROUTES_DIR } })),
    );
    const [first] = registries;
    expect((await first?.call("GET", "/services/seeded"))?.body.revision).toBe(1);
    await Promise.all(registries.map((registry) => registry.stop()));
  });

  // RG-100
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
  ])("with %s prevents the start, and the error names the file and the reason", async (_, files, parts) => {
    const error = await rejection(startRegistry({ env: { SEED_ROUTES_DIR: await seedDirectory(files) } }));
    for (const part of parts) expect(String(error)).toContain(part);
  });
});
