/** Tests of the commands in upgrading.md. */
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ADMIN_TOKEN, service, useRegistry } from "../../../app/registry/bed.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { moved, Reader } from "../../../support/documents/guide-reader.ts";
import { startQuickStart } from "./quick-start.ts";

const GUIDE = ".github/guides/upgrading.md";

describe("upgrading.md", () => {
  const registry = useRegistry();
  let reader: Reader;
  beforeAll(async () => {
    reader = await Reader.open({
      REGISTRY_URL: registry.url,
      INTERNAL_URL: registry.internalUrl,
      ADMIN_TOKEN,
    });
  });

  test("lets the new version check the services that an older version stored", async () => {
    const [save = "", start = "", ask = "", ...others] = await commandsOf(GUIDE, "Before");
    expect(others).toEqual([]);
    expect(save).toContain('"$REGISTRY_URL/services" ');
    expect(start).toBe("DATA_DIR=$(mktemp -d) ADMIN_TOKEN=check bun start\n");
    await registry.put("served", service("/served"));
    await reader.run(save);
    const DATA_DIR = join(reader.directory, "of-the-new-version");
    const ostiary = await startQuickStart(reader, { DATA_DIR, ADMIN_TOKEN: "check" });
    try {
      const asked = moved(ask, ostiary.places);
      expect(await reader.run(asked)).toContain("served: created");
      const saved = Bun.file(join(reader.directory, "services-before.json"));
      await saved.write((await saved.text()).replaceAll("/served", "/served/../shout"));
      await expect(reader.run(asked)).rejects.toThrow("services.served.user.routes[0].path");
    } finally {
      await ostiary.stop();
    }
  });

  test("shows what the catalogs would change", async () => {
    const [catalogs = ""] = await commandsOf(GUIDE, "The order");
    expect(await reader.run(catalogs)).toMatch(/^identity: created/m);
  });

  test("checks versions, gateways and stored services afterwards", async () => {
    const [after = ""] = await commandsOf(GUIDE, "After");
    const printed = await reader.run(after);
    expect(printed).toMatch(/^ostiary_build_info\{/);
    expect(printed).toMatch(/\nNo problem in 1 file with \d+ services?\.\n$/);
  });
});
