import { beforeAll, describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { service } from "../registry/bed.ts";
import { useCli } from "./bed.ts";

const { registry, cli, file, directory } = useCli();

beforeAll(async () => {
  await registry.put("widgets", service("/widgets"));
  await registry.put("gadgets", service("/gadgets"));
  await registry.put("gadgets", service("/gadgets/more"));
  await mkdir(join(directory(), "ostiary"));
  await file("ostiary/config.yaml", 'registries: { prod: { url: "http://a:1", token_command: "false" } }');
});

/** Runs `complete`, as the completion scripts do, and returns the suggested words. */
async function words(...typed: string[]): Promise<string[]> {
  const run = await cli(["complete", "--", ...typed], { env: { XDG_CONFIG_HOME: directory() } });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  return run.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("\t")[0] ?? "");
}

describe("the suggested words", () => {
  test.each<[string[], string[]]>([
    [["appl"], ["apply"]],
    [
      ["nosuch", ""],
      ["apply", "diff"],
    ],
    [["apply", "--dry"], ["--dry-run"]],
    [
      ["diff", "gadgets", "--fail-on", "o"],
      ["opens", "opens,breaks"],
    ],
    [["restore", "--timeout", "5", "widgets", ""], ["1"]],
    [["restore", "nosuch", ""], []],
    [
      ["delete", "gadgets", "--if-revision", ""],
      ["2", "1"],
    ],
    [["diff", "x.yaml", "--output", "m"], ["markdown"]],
    [
      ["services", ""],
      ["gadgets", "widgets"],
    ],
    [["--json", "delete", "g"], ["gadgets"]],
    [["delete", "widgets", ""], []],
    [["apply", ""], [":files"]],
    [
      ["diff", "wi"],
      ["widgets", ":files"],
    ],
    [
      ["explain", "P"],
      ["POST", "PUT", "PATCH"],
    ],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["services", "--registry", "p"], ["prod"]],
  ])("fit the typed words %j", async (typed, expected) => {
    const found = await words(...typed);
    expect(typed[0] === "nosuch" ? found.slice(0, 2) : found).toEqual(expected);
  });

  test("leave out the services, without an error, when no registry responds", async () => {
    const away = { REGISTRY_URL: "http://127.0.0.1:1" };
    expect(await cli(["complete", "--", "services", ""], { env: away })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
    expect((await cli(["complete", "--", "services", ""], { env: { ADMIN_TOKEN: "" } })).exitCode).toBe(0);
  });
});

test.each([["tcsh"], []])("completion %j is wrong usage", async (...shell) => {
  expect(await cli(["completion", ...shell])).toMatchObject({ exitCode: 2, stdout: "" });
});
