import { describe, expect, test } from "bun:test";
import { service } from "../registry/bed.ts";
import { useCli } from "./bed.ts";

const { registry, cli } = useCli();

const status = async (name: string) => (await registry.call("GET", `/services/${name}`)).status;

describe("delete --yes", () => {
  test("removes a service, and says how to restore it", async () => {
    await registry.put("a", service("/a"));
    expect(await cli(["delete", "a", "--yes"])).toEqual({
      exitCode: 0,
      stdout: "a is deleted. Its revisions stay: the command restore makes one of them current again.\n",
      stderr: "",
    });
    expect(await status("a")).toBe(404);
    expect((await cli(["restore", "a", "1"])).exitCode).toBe(0);
    const json = await cli(["delete", "a", "--yes", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual({ service: "a", status: "deleted" });
  });
});

describe("delete without --yes", () => {
  test("deletes nothing and does not ask when standard input is not a terminal", async () => {
    await registry.put("c", service("/c"));
    const run = await cli(["delete", "c"], { input: "y\n" });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toContain("add --yes");
    expect(await status("c")).toBe(200);
  });

  /** Deletes a service, and types a line after the command's question. */
  const asked = async (name: string, typed: string, meanwhile: () => Promise<unknown> = async () => {}) => {
    let question = "";
    const run = await cli(["delete", name], {
      terminal: {
        async ask(text) {
          question = text;
          await meanwhile();
          return typed;
        },
      },
    });
    return { ...run, question };
  };

  test("asks at a terminal, and shows what would be deleted", async () => {
    await registry.put("d", service("/d/1", "/d/2"));
    const { exitCode, question } = await asked("d", "y");
    expect(question).toBe("Delete d, revision 1, with 2 routes at http://upstream:8080? [y/N] ");
    expect(exitCode).toBe(0);
    expect(await status("d")).toBe(404);
  });

  test.each(["", "n", "yesterday", "Y?"])("treats %j as no", async (typed) => {
    await registry.put("e", service("/e"));
    expect(await asked("e", typed)).toMatchObject({ exitCode: 1, stderr: "Nothing was deleted.\n" });
    expect(await status("e")).toBe(200);
  });

  test("refuses when the service has changed since the question was shown", async () => {
    await registry.put("g", service("/g"));
    const { exitCode, stderr } = await asked("g", "yes", () => registry.put("g", service("/g", "/g/2")));
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Its current revision is 2.");
    expect(await status("g")).toBe(200);
  });
});
