import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { VERSION } from "@ostiary/lib/runtime/version";
import { RELEASES } from "../nightly/upgrade/releases.ts";
import { ROOT } from "../support/root.ts";

describe("the version", () => {
  test("equals the version of the root package and the newest version in the changelog", async () => {
    expect(VERSION).toBe((await Bun.file(join(ROOT, "package.json")).json()).version);
    const changelog = await Bun.file(join(ROOT, ".github/CHANGELOG.md")).text();
    expect(changelog.match(/^## (\d+\.\d+\.\d+)$/m)?.[1]).toBe(VERSION);
  });

  test("of each earlier release has its commit, for upgrades from it", async () => {
    const changelog = await Bun.file(join(ROOT, ".github/CHANGELOG.md")).text();
    const listed = Array.from(
      changelog.matchAll(/^## ([1-9]\d*\.\d+\.\d+)$/gm),
      ([, version = ""]) => version,
    );
    const earlier = listed.filter((version) => version !== VERSION).toReversed();
    expect(RELEASES.map(({ version }) => version)).toEqual(earlier);
    for (const { revision } of RELEASES) expect(revision).toMatch(/^[0-9a-f]{40}$/);
  });
});
