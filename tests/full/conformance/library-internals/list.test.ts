import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { ROOT } from "../../../support/root.ts";
import { internals } from "./internals.ts";

test("each listed behavior has a contract test, and the code that depends on it exists", async () => {
  const contracts: string[] = [];
  for await (const file of new Glob("*.test.ts").scan(import.meta.dir)) {
    const text = await Bun.file(join(import.meta.dir, file)).text();
    contracts.push(...text.matchAll(/\bcontract\("(\w+)"/g).map(([, name = ""]) => name));
  }
  expect(contracts.sort()).toEqual(Object.keys(internals).sort());
  const missing = Object.values(internals).flatMap(({ usedIn }) =>
    usedIn.filter((path) => !existsSync(join(ROOT, path))),
  );
  expect(missing).toEqual([]);
});
