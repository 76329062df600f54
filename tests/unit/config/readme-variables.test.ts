import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { auditVariables } from "@ostiary/audit/config";
import { gatewayVariables } from "@ostiary/gateway/config";
import { identityVariables } from "@ostiary/identity/config";
import { registryVariables } from "@ostiary/registry/config";
import type { TObject } from "@sinclair/typebox";

/** The tables of variables in the READMEs, against the variables that are read. */

/** Variables and defaults of a service's README, as its table writes them. */
async function documented(app: string): Promise<Record<string, string>> {
  const text = await Bun.file(join(import.meta.dir, `../../../apps/${app}/README.md`)).text();
  const rows = [...text.matchAll(/^\| `([A-Z][A-Z_]+)` +\| (.*?) +\|/gm)];
  return Object.fromEntries(
    rows.map(([, name = "", value = ""]) => [name, value.trim().replaceAll("`", "")]),
  );
}

/** The same of its schema: a default, `required`, or nothing. */
function read({ properties, required = [] }: TObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { default: fallback }]) => [
      name,
      fallback !== undefined ? String(fallback) : required.includes(name) ? "required" : "",
    ]),
  );
}

describe("the README of", () => {
  test.each<[string, TObject]>([
    ["gateway", gatewayVariables],
    ["registry", registryVariables],
    ["identity", identityVariables],
    ["audit", auditVariables],
  ])("%s lists every variable with its default", async (app, schema) => {
    expect(await documented(app)).toEqual(read(schema));
  });
});
