import { expect, test } from "bun:test";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import storedSpeed from "../nightly/bench/floor/speed.json" with { type: "json" };
import { Speed } from "../nightly/bench/floor/speed.ts";
import { documentsOf } from "../nightly/bench/floor/speed-documents.ts";
import { ROOT } from "../support/root.ts";

const speed = Value.Parse(Speed, storedSpeed);

test("every document and the picture show the figures of speed.json", async () => {
  for (const [path, text] of await documentsOf(speed)) expect(await Bun.file(path).text()).toBe(text);
});

test("documents show no other figures for the rows of bench floor", async () => {
  for (const name of ["README.md", ".github/PERFORMANCE.md", ".github/guides/capacity.md"]) {
    const text = await Bun.file(join(ROOT, name)).text();
    const outside = text.replaceAll(/<!-- ([\w-]+) -->.*?<!-- \/\1 -->/gs, "");
    const rows = speed.rows.filter(({ title }) => outside.includes(`| ${title} `));
    expect(rows.map(({ title }) => title).filter((title) => /\| \d/.test(lineOf(outside, title)))).toEqual(
      [],
    );
    expect(outside).not.toMatch(/handled \d|\d times a second/);
  }
});

const lineOf = (text: string, title: string) =>
  text.split("\n").find((line) => line.startsWith(`| ${title} `)) ?? "";
