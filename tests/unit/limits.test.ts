/** Checks that `.github/LIMITS.md` agrees with the schemas and the code, and names existing tests. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { schemas } from "../readmes/readmes.ts";
import { ROOT } from "../support/root.ts";

const page = readFileSync(join(ROOT, ".github/LIMITS.md"), "utf8");

/** The variables of each service, by the section of the page. */
const services: Record<string, Record<string, TSchema>> = Object.fromEntries(
  ["Gateway", "Registry", "Identity", "Audit"].map((section) => [
    section,
    schemas[section.toLowerCase()]?.properties ?? {},
  ]),
);

/** The whole-number variables that are not limits. */
const NO_LIMITS: ReadonlySet<string> = new Set(["PORT", "INTERNAL_PORT", "TRUSTED_PROXY_HOPS"]);

interface Row {
  readonly section: string;
  readonly limit: string;
  readonly fallback: string;
  readonly setBy: string;
  readonly test: string;
}

const rows: Row[] = page.split(/^## /m).flatMap((part) => {
  const section = part.slice(0, part.indexOf("\n"));
  return part
    .split("\n")
    .filter((line) => /^\| (?!Limit |-)/.test(line))
    .map((line) => {
      const [limit = "", fallback = "", setBy = "", , file = ""] = line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim());
      return { section, limit, fallback, setBy, test: file };
    });
});

describe.each(rows.map((row): [string, Row] => [`${row.section}: ${row.limit}`, row]))("%s", (_, row) => {
  test("names an existing test", () => {
    expect(existsSync(join(ROOT, "tests", row.test))).toBe(true);
  });

  const fixed = /^`([A-Za-z_]+)` in `([^`]+)`$/.exec(row.setBy);
  const variable = /^`([A-Z_]+)`/.exec(row.setBy)?.[1];
  if (fixed !== null) {
    test("equals the constant that it names", () => {
      expect(constantIn(fixed[2] ?? "", fixed[1] ?? "")).toBe(Number(row.fallback));
    });
  } else if (variable !== undefined) {
    test("equals the default of the variable that it names", () => {
      const rule = services[row.section]?.[variable];
      expect(rule).toBeDefined();
      expect(String(rule?.default ?? "unset")).toBe(row.fallback);
    });
  }
});

test.each(Object.entries(services))("%s has a row for each of its limits", (section, properties) => {
  const named = new Set(rows.map(({ section, setBy }) => `${section} ${/^`([A-Z_]+)`/.exec(setBy)?.[1]}`));
  const missing = Object.entries(properties)
    .filter(([name, rule]) => rule.type === "integer" && !NO_LIMITS.has(name))
    .map(([name]) => name)
    // The SHUTDOWN_ variables of all services have one row, in the section of the gateway.
    .filter((name) => !named.has(`${name.startsWith("SHUTDOWN_") ? "Gateway" : section} ${name}`));
  expect(Object.keys(properties)).not.toEqual([]);
  expect(missing).toEqual([]);
});

test.each(["gateway", "registry", "identity", "audit"])("the README of %s links to the limits", (app) => {
  expect(readFileSync(join(ROOT, `apps/${app}/README.md`), "utf8")).toContain("LIMITS.md");
});

/** Returns the value of a constant in a file, such as `const NAME = 512 * 1024;` or `name: 1_000,`. */
function constantIn(file: string, name: string): number {
  const text = readFileSync(join(ROOT, file), "utf8");
  const [, value = ""] = new RegExp(`(?:const ${name} =|\\b${name}:) ([\\d_ *]+)[;, ]`).exec(text) ?? [];
  return value.split("*").reduce((product, factor) => product * Number(factor.replaceAll("_", "")), 1);
}
