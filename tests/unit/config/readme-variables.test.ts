import { describe, expect, test } from "bun:test";
import { readmePath, schemas, sharedPath, withSharedTable, withTable } from "../../readmes/readmes.ts";

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
