/** Tests of the documents that `apply` accepts and refuses. */
import { describe, expect, test } from "bun:test";
import { useCli } from "./bed.ts";

const { cli, file } = useCli();

const YAML = `services:
  given:
    url: http://upstream:8080
    user:
      routes:
        - {path: /given, methods: [GET]}
`;
const JSON_TEXT = JSON.stringify(
  {
    services: {
      given: { url: "http://upstream:8080", user: { routes: [{ path: "/given", methods: ["GET"] }] } },
    },
  },
  null,
  2,
);
const BOM = "\ufeff";
const utf16 = (text: string) => Buffer.from(`${BOM}${text}`, "utf16le");

describe("a document is accepted", () => {
  test.each<[string, string]>([
    ["bom.yaml", BOM + YAML],
    ["crlf.yaml", YAML.replaceAll("\n", "\r\n")],
    ["bom.json", BOM + JSON_TEXT],
    ["crlf.json", JSON_TEXT.replaceAll("\n", "\r\n")],
    ["json.yaml", JSON_TEXT],
    ["start.yaml", `---\n${YAML}...\n`],
    ["no extension", YAML],
  ])("as %s, from a file and from standard input", async (name, content) => {
    expect(await cli(["apply", await file(name, content)])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await cli(["apply", "-"], { input: content })).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

describe("a document is refused with its violations", () => {
  // Every other reason for a refusal is tested in tests/unit/registry.
  test.each<[string, string | Uint8Array, string]>([
    ["utf-16.yaml", utf16(YAML), "not valid UTF-8."],
    [
      "comma.json",
      JSON_TEXT.replace('"http://upstream:8080",', '"http://upstream:8080"'),
      "The JSON is not valid at line 5, column 7: a comma or a closing bracket is missing.",
    ],
  ])("%s", async (name, content, message) => {
    const path = await file(name, content);
    for (const [parameters, heading] of [
      [["apply", path], "Refused, nothing was written:\n"],
      [["apply", "--dry-run", path], "Refused:\n"],
      [["diff", path], "Refused:\n"],
    ] as const) {
      const run = await cli([...parameters]);
      expect(run).toMatchObject({ exitCode: 1, stdout: "" });
      expect(run.stderr).toStartWith(heading);
      expect(run.stderr).toContain(message);
    }
  });

  test("when it is too large", async () => {
    const run = await cli(["apply", await file("large.yaml", YAML + "#".repeat(5 * 1024 * 1024))]);
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    expect(run.stderr).toBe("Request body is too large. The limit is 4194304 bytes.\n");
  });
});

describe("a file that cannot be read is wrong usage", () => {
  test("because it does not exist", async () => {
    expect(await cli(["apply", "/does/not/exist.yaml"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "/does/not/exist.yaml does not exist.\n",
    });
  });
});
