/** Compares the types of `@ostiary/client` with the descriptions that the services serve. */
import { expect, test } from "bun:test";
import { relative } from "node:path";
import { clientTypes } from "../../release/client-types.ts";
import { releasedDescriptions } from "../../release/descriptions.ts";
import { ROOT } from "../../support/root.ts";

// CL-10
test("the types of the client are those of the descriptions; `bun run client` writes them", async () => {
  const types = await clientTypes(await releasedDescriptions());
  expect([...types.keys()].map((file) => relative(ROOT, file))).toEqual([
    "lib/client/apis/gateway.d.ts",
    "lib/client/apis/registry.d.ts",
  ]);
  for (const [file, text] of types) expect((await Bun.file(file).text()) === text).toBe(true);
}, 240_000);
