import { describe, expect, test } from "bun:test";
import { integer, requiredText } from "@ostiary/lib/runtime/config";
import { Type } from "@sinclair/typebox";
import { readmePath, schemas, withTable } from "../../readmes/readmes.ts";
import { variableTable } from "../../readmes/variable-table.ts";

describe.each(Object.keys(schemas))("the README of %s", (app) => {
  test("has the table of its configuration schema (if not: bun run readme)", async () => {
    const readme = await Bun.file(readmePath(app)).text();
    expect(readme).toBe(withTable(app, readme));
  });

  test("says what every variable accepts and what it is for", () => {
    for (const [name, rule] of Object.entries(schemas[app]?.properties ?? {})) {
      expect(`${name}: ${rule.description}`).toMatch(/^[A-Z0-9_]+: \S.{10,}[^.]\.$/);
      expect(`${name} ${rule.rule}`).toMatch(/^[A-Z0-9_]+ must be /);
    }
  });
});

describe("a table of variables", () => {
  test("shows secrets, defaults, ranges and required variables", () => {
    const schema = Type.Object({
      TOKEN: requiredText("must be a | b", { secret: true, description: "For <all>." }),
      SIZE: integer(3, 1, 5, "How large."),
    });
    const [, dashes, ...rows] = variableTable(schema).trimEnd().split("\n");
    expect(dashes).toMatch(/^(\| -+ ){4}\|$/);
    expect(rows.map((row) => row.replace(/ +/g, " "))).toEqual([
      "| `TOKEN`, or `TOKEN_FILE` | required | a \\| b | For &lt;all>. |",
      "| `SIZE` | `3` | 1 to 5 | How large. |",
    ]);
    expect(new Set(rows.map((row) => row.length))).toEqual(new Set([dashes?.length ?? 0]));
  });

  test("needs its two markers in the README, in order", () => {
    for (const readme of ["", "<!-- /variables -->\n<!-- variables: written by bun run readme -->\n"])
      expect(() => withTable("gateway", readme)).toThrow("The README of gateway needs a line <!-- variables");
    expect(() => withTable("nosuch", "")).toThrow("The README of nosuch");
  });
});
