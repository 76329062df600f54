/** Tests of the command line of `bun run release`. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import root from "../../../package.json" with { type: "json" };
import { checkRelease } from "../../release/check.ts";
import { runToEnd } from "../../support/processes/run-to-end.ts";
import { rejection } from "../../support/rejection.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

setDefaultTimeout(240_000);

describe("bun run release", () => {
  test.each([
    ["publishes nothing itself", [], "--dry-run"],
    ["refuses the tag of another version", ["--dry-run", "--tag", "v0.9.0"], `the tag is v${root.version}`],
    [
      "refuses a tag with other text",
      ["--dry-run", "--tag", `v${root.version};id`],
      `the tag is v${root.version}`,
    ],
    [
      "refuses a repository without https",
      ["--dry-run", "--repository", "git@example.com:x"],
      "Use an https URL",
    ],
    ["refuses an unknown system", ["--dry-run", "windows-x64"], "Use one of linux-x64"],
  ])("%s", async (_, parameters, says) => {
    const outdir = temporaryFolder("release-refused");
    const command = [process.execPath, "tests/release/main.ts", "--outdir", outdir, ...parameters];
    const { exitCode, stdout, stderr } = await runToEnd(command);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(says);
  });

  test("is not content with a folder that lacks a file", async () => {
    const folder = temporaryFolder("release-incomplete");
    await Bun.write(`${folder}/RELEASE_NOTES.md`, "New.\n");
    expect(String(await rejection(checkRelease(folder, ["linux-x64"])))).toContain("ostiary-linux-x64");
  });
});
