import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { integer, requiredText } from "@ostiary/lib/runtime/config";
import { Type } from "@sinclair/typebox";
import { readmePath, schemas, sharedPath, withSharedTable, withTable } from "../../readmes/readmes.ts";
import { isTlsFile, sharedRows, variableTable } from "../../readmes/variable-table.ts";
import { ROOT } from "../../support/root.ts";

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

test("the page of operations has the variables that are the same in every service", async () => {
  const page = await Bun.file(sharedPath).text();
  expect(page).toBe(withSharedTable(page));
  expect(page).toContain("| `LOG_LEVEL` ");
});

test("SECURITY.md lists the files of TLS to each server", async () => {
  const page = await Bun.file(join(ROOT, ".github/SECURITY.md")).text();
  const files = Object.values(schemas).flatMap((schema) =>
    Object.keys(schema.properties).filter((name) => name.endsWith("_CA_FILE") && isTlsFile(schema, name)),
  );
  expect(new Set(files).size).toBeGreaterThan(5);
  for (const file of files) expect(page).toContain(`\`${file}\``);
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
      "| `TOKEN`, `TOKEN_FILE` | required | a \\| b | For &lt;all>. |",
      "| `SIZE` | `3` | 1 to 5 | How large. |",
    ]);
    expect(new Set(rows.map((row) => row.length))).toEqual(new Set([dashes?.length ?? 0]));
  });

  test("leaves the files of TLS to a server to SECURITY.md", () => {
    const file = () => Type.Optional(requiredText("must be a file", { description: "A file of a peer." }));
    const files = { A_CA_FILE: file(), A_CERT_FILE: file(), A_KEY_FILE: file() };
    const table = variableTable(Type.Object({ ...files, B_KEY_FILE: file() }));
    expect(table).not.toContain("A_");
    expect(table).toContain("| `B_KEY_FILE` |");
  });

  test("leaves out the rows that are the same in all services", () => {
    const size = (description: string) => integer(3, 1, 5, description);
    const one = Type.Object({ SIZE: size("How large."), OWN: size("Its own."), TEXT: size("One.") });
    const other = Type.Object({ SIZE: size("How large."), TEXT: size("Another.") });
    const shared = sharedRows([one, other]);
    expect(shared.map(([name]) => name)).toEqual(["`SIZE`"]);
    expect(variableTable(one, shared)).not.toContain("SIZE");
    expect(variableTable(one, shared)).toContain("TEXT");
  });

  test("needs its two markers in the README, in order", () => {
    for (const readme of ["", "<!-- /variables -->\n<!-- variables: written by bun run readme -->\n"])
      expect(() => withTable("gateway", readme)).toThrow("The README of gateway needs a line <!-- variables");
    expect(() => withTable("nosuch", "")).toThrow("There is no app nosuch.");
  });
});
