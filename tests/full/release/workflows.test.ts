/** Tests of the repository's workflows. actionlint is a program in Go: github.com/rhysd/actionlint. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { runToEnd } from "../../support/processes/run-to-end.ts";
import { ROOT } from "../../support/root.ts";

const WORKFLOWS = join(ROOT, ".github/workflows");
const files = await Array.fromAsync(new Bun.Glob("*.yml").scan({ cwd: WORKFLOWS, absolute: true }));

describe("the workflows", () => {
  test.skipIf(Bun.which("actionlint") === null)("pass actionlint", async () => {
    expect(files.length).toBeGreaterThan(2);
    expect(await runToEnd(["actionlint", ...files])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test("name no secret but the token of the package registry, and put nothing of the caller into a script", async () => {
    for (const file of files) {
      const text = await Bun.file(file).text();
      const secrets = Array.from(text.matchAll(/secrets\.(\w+)/g), ([, name]) => name);
      expect(secrets).toEqual(file.endsWith("/release.yml") ? ["NPM_TOKEN"] : []);
      const jobs: Record<string, { steps: { run?: string }[] }> = parse(text).jobs;
      const scripts = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = "" }) => run));
      expect(scripts.filter((run) => /\$\{\{ *(github|steps)\b/.test(run))).toEqual([]);
    }
  });

  test("publish only after the tests of the tag, and may write only where they publish", async () => {
    const { on, permissions, jobs } = parse(await Bun.file(join(WORKFLOWS, "release.yml")).text());
    expect(on).toEqual({ push: { tags: ["v*"] } });
    expect(permissions).toEqual({ contents: "read" });
    expect(jobs.verify).not.toHaveProperty("permissions");
    expect([jobs.image.needs, jobs.publish.needs]).toEqual(["verify", ["verify", "image"]]);
    const scripts = jobs.verify.steps.map(({ run }: { run?: string }) => run);
    expect(scripts).toContain("bash .ci/run");
  });
});
