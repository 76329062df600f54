import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { VERSION } from "@ostiary/lib/runtime/version";
import { ROOT } from "../support/root.ts";

describe("the version", () => {
  test("equals the version of the root package and the newest version in the changelog", async () => {
    expect(VERSION).toBe((await Bun.file(join(ROOT, "package.json")).json()).version);
    const changelog = await Bun.file(join(ROOT, ".github/CHANGELOG.md")).text();
    expect(changelog.match(/^## (\d+\.\d+\.\d+)$/m)?.[1]).toBe(VERSION);
  });
});
