/**
 * Tests of the GitHub workflow in the README of the command line. Its steps run here as on a GitHub runner.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { environmentOf, useCli } from "../../../app/cli/bed.ts";
import { service } from "../../../app/registry/harness.ts";
import { pathWith, scriptOf } from "../../../support/processes/path-with.ts";
import { runBash } from "../../../support/processes/run-to-end.ts";
import { ROOT } from "../../../support/root.ts";

const { registry, file, directory } = useCli();

interface Step {
  name?: string;
  run?: string;
  env?: Record<string, string>;
}
const readme = await Bun.file(join(ROOT, "apps/cli/README.md")).text();
const workflow = parse(/```yaml\n(name: routes\n.*?)```/s.exec(readme)?.[1] ?? "");

function step(job: string, name: string): Step {
  const found = workflow.jobs[job].steps.find((each: Step) => each.name === name);
  expect(found?.run).toBeString();
  return found;
}

const PATH = pathWith({
  ostiary: scriptOf("apps/cli/main.ts"),
  // A stand-in for GitHub's `gh`: it writes the comment to a file.
  gh: 'echo "$@" > comment.txt; cat preview.md >> comment.txt',
});

beforeAll(async () => {
  await registry.put("piped", service("/piped"));
});

async function runStep({ run = "" }: Step): Promise<number> {
  const { exitCode } = await runBash(run, directory(), {
    ...environmentOf(registry.url),
    PATH,
    PULL_REQUEST: "https://github.com/a/b/pull/1",
  });
  return exitCode;
}

const comment = () => Bun.file(join(directory(), "comment.txt")).text();
const propose = (config: object) => file("routes.yaml", JSON.stringify({ services: { piped: config } }));

describe("the workflow of the README", () => {
  test("declares its GitHub permissions, and each step sets the environment variables that it uses", () => {
    expect(Object.keys(workflow.env)).toEqual(["REGISTRY_URL", "ADMIN_TOKEN"]);
    expect(workflow.permissions).toEqual({ contents: "read", "pull-requests": "write" });
    expect(Object.keys(workflow.on)).toEqual(["pull_request", "push"]);
    for (const job of Object.values<{ steps: Step[] }>(workflow.jobs)) {
      for (const { run = "", env = {} } of job.steps) {
        const used = [...run.matchAll(/\$([A-Z_]+)/g)].map(([, name]) => name ?? "");
        expect(used.filter((name) => !Object.hasOwn(env, name))).toEqual([]);
      }
    }
  });

  test("comments a preview that breaks callers, and fails", async () => {
    await propose(service("/piped/elsewhere"));
    expect(await runStep(step("review", "Preview"))).toBe(3);
    expect(await runStep(step("review", "Comment"))).toBe(0);
    expect(await comment()).toStartWith(
      "pr comment https://github.com/a/b/pull/1 --body-file preview.md\n### Route changes\n",
    );
    expect(await comment()).toContain("**breaks**: the route is gone");
  });

  test("comments a harmless preview, passes, and publishes it", async () => {
    await propose(service("/piped", "/piped/more"));
    expect(await runStep(step("review", "Preview"))).toBe(0);
    expect(await runStep(step("review", "Comment"))).toBe(0);
    expect(await comment()).toContain("1 change: no change opens a route or breaks callers.");
    expect(await runStep(step("publish", "Publish"))).toBe(0);
    expect((await registry.call("GET", "/services/piped")).body.revision).toBe(2);
  });

  test("fails on a refused document, and comments nothing", async () => {
    await file("comment.txt", "");
    await propose({ url: "https://piped:1" });
    expect(await runStep(step("review", "Preview"))).toBe(1);
    expect(await runStep(step("review", "Comment"))).toBe(0);
    expect(await comment()).toBe("");
  });
});
