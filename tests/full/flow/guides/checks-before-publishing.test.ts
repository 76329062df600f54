/**
 * Tests of the Git hook and the pipelines in checks-before-publishing.md, run as Git, GitHub and GitLab run
 * them.
 */
import { describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { environmentOf, useCli } from "../../../app/cli/bed.ts";
import { service } from "../../../app/registry/bed.ts";
import { blocksOf, commandsOf } from "../../../support/documents/documents.ts";
import { pathWith, scriptOf } from "../../../support/processes/path-with.ts";
import { runBash } from "../../../support/processes/run-to-end.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const GUIDE = ".github/guides/checks-before-publishing.md";
const { registry } = useCli();

const GOOD = JSON.stringify({ services: { orders: service("/orders") } });
const BAD = GOOD.replace("http:", "https:");

const PATH = pathWith({ ostiary: scriptOf("apps/cli/main.ts") });

/** Creates a folder for a repository. Its scripts run with `ostiary` on their PATH. */
async function repository(files: Record<string, string>) {
  const directory = temporaryFolder("repository");
  const env = {
    ...environmentOf(registry.url),
    PATH,
    HOME: directory,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@b",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@b",
  };
  const write = async (path: string, text: string) => {
    await mkdir(join(directory, path, ".."), { recursive: true });
    await writeFile(join(directory, path), text);
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  return {
    write,
    read: (path: string) => Bun.file(join(directory, path)).text(),
    run: (script: string) => runBash(script, directory, env),
  };
}

async function yamlOf(heading: string) {
  const found = (await blocksOf(GUIDE)).filter(
    (block) => block.heading === heading && block.language === "yaml",
  );
  return parse(found[0]?.text ?? "");
}

test("the document of an OpenAPI description is the one that the guide shows, and it is valid", async () => {
  const heading = "Begin with an OpenAPI description";
  const [commands = ""] = await commandsOf(GUIDE, heading);
  const shown = (await blocksOf(GUIDE)).find(
    (block) => block.heading === heading && block.language === "yaml",
  );
  const repo = await repository({});
  expect(await repo.run(commands)).toMatchObject({ exitCode: 0 });
  const printed = await repo.read("routes/orders.yaml");
  expect(printed.slice(printed.indexOf("services:")).trim()).toBe(shown?.text.trim() ?? "");
  expect(await repo.run("ostiary validate routes/*.yaml")).toMatchObject({ exitCode: 0 });
});

describe("the Git hook", () => {
  async function withHook() {
    const repo = await repository({ "routes/orders.yaml": GOOD, "other.txt": "1" });
    const [install = ""] = await commandsOf(GUIDE, "Before a commit");
    expect((await repo.run(`git init -q\n${install}`)).exitCode).toBe(0);
    return repo;
  }

  test("accepts valid documents, and refuses invalid ones with their line numbers", async () => {
    const repo = await withHook();
    expect((await repo.run("git add . && git commit -qm one")).exitCode).toBe(0);
    await repo.write("routes/orders.yaml", BAD);
    const refused = await repo.run("git add . && git commit -qm two");
    expect(refused.exitCode).not.toBe(0);
    expect(refused.output).toContain("routes/orders.yaml:1:");
  });

  test("checks the staged content, not the files of the working tree", async () => {
    const repo = await withHook();
    await repo.run("git add .");
    await repo.write("routes/orders.yaml", BAD);
    expect((await repo.run("git commit -qm good")).exitCode).toBe(0);
    await repo.run("git add .");
    await repo.write("routes/orders.yaml", GOOD);
    expect((await repo.run("git commit -qm bad")).exitCode).not.toBe(0);
  });
});

describe("the guide's route tests", () => {
  const example = async () =>
    (await blocksOf(GUIDE)).find(({ heading }) => heading === "Tests of routes")?.text ?? "";

  test("pass for the example, and name the test that a change breaks", async () => {
    const text = await example();
    const repo = await repository({ "routes/invoices.yaml": text });
    expect(await repo.run("ostiary validate routes/*.yaml")).toEqual({
      exitCode: 0,
      output: "No problem in 1 file with 1 service and 4 tests.\n",
    });
    await repo.write("routes/invoices.yaml", text.replace("methods: { GET:", "methods: { DELETE: , GET:"));
    const broken = await repo.run("ostiary validate routes/*.yaml");
    expect([broken.exitCode, broken.output]).toEqual([1, expect.stringContaining("nobody deletes invoices")]);
  });
});

interface Step {
  name?: string;
  run?: string;
}

describe("the GitHub workflow", () => {
  const step = async (job: string, name: string) => {
    const { jobs } = await yamlOf("GitHub");
    const found = jobs[job].steps.find((each: Step) => each.name === name);
    expect(found?.run).toBeString();
    return found.run;
  };

  test("annotates problems, writes them as SARIF, and does not publish", async () => {
    const repo = await repository({ "routes/orders.yaml": BAD });
    const check = await repo.run(await step("check", "Check"));
    expect([check.exitCode, check.output]).toEqual([
      1,
      expect.stringMatching(/^::error file=routes\/orders\.yaml,line=1,/),
    ]);
    expect((await repo.run(await step("check", "Report"))).exitCode).toBe(0);
    expect(JSON.parse(await repo.read("routes.sarif")).runs[0].results).toHaveLength(1);
    const { jobs, permissions } = await yamlOf("GitHub");
    expect([jobs.publish.needs, jobs.publish.if]).toEqual(["check", "github.event_name == 'push'"]);
    expect(Object.keys(jobs.check)).not.toContain("env");
    expect(permissions).toEqual({ contents: "read", "security-events": "write" });
  });
});
