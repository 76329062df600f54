/** Checks that `.github/LIMITS.md` has the values of the constants that it names. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/root.ts";

const page = readFileSync(join(ROOT, ".github/LIMITS.md"), "utf8");

const rows = page
  .split("\n")
  .filter((line) => /^\| (?!Limit |-)/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );

test.each(rows)("%s: %s is the value of the constant", (_limit, value, _beyond, constant) => {
  const [, file = "", name = ""] = /^`([^`:]+):([A-Za-z_]+)`$/.exec(constant ?? "") ?? [];
  expect(constantIn(file, name)).toBe(Number(value));
});

/** Returns the value of a constant in a file, such as `const NAME = 512 * 1024;` or `name: 1_000,`. */
function constantIn(file: string, name: string): number {
  const text = readFileSync(join(ROOT, file), "utf8");
  const [, value = ""] = new RegExp(`(?:const ${name} =|\\b${name}:) ([\\d_ *]+)[;, ]`).exec(text) ?? [];
  return value.split("*").reduce((product, factor) => product * Number(factor.replaceAll("_", "")), 1);
}
