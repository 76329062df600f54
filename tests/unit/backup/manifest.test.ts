import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { type Manifest, writeManifest } from "../../../apps/platform/backup/manifest.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

// OP-63
test("a manifest that cannot be written leaves no file in the directory of the backup", async () => {
  const directory = temporaryFolder("manifest");
  const unwritable: Manifest = {
    format: 1,
    get version(): string {
      throw new Error("The disk is full.");
    },
    created_at: "2026-01-01T00:00:00.000Z",
    dumps: [],
  };
  await expect(writeManifest(directory, unwritable)).rejects.toThrow("The disk is full.");
  expect(await readdir(directory)).toEqual([]);
});
