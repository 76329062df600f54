import { expect, test } from "bun:test";
import { loadAudit } from "@ostiary/audit/run";
import { loadGateway } from "@ostiary/gateway/run";
import { loadIdentity } from "@ostiary/identity/run";
import { ConfigError, type Environment } from "@ostiary/lib/runtime/config";
import { loadRegistry } from "@ostiary/registry/run";
import fc from "fast-check";
import { loadPlatform } from "../../../apps/platform/config.ts";
import { schemas } from "../../readmes/readmes.ts";
import { runs } from "../../support/runs.ts";
import { thrownBy } from "../../support/thrown.ts";

/** The functions that read the variables of each service at start. */
const loaders: Record<string, (env: Environment) => unknown> = {
  gateway: loadGateway,
  registry: loadRegistry,
  identity: loadIdentity,
  audit: loadAudit,
  platform: loadPlatform,
};

/** Returns the lines below the headline of the error with which `load` refuses an environment. */
function refusalOf(load: () => unknown): string[] {
  return thrownBy(ConfigError, load)?.message.split("\n").slice(1) ?? [];
}

/** Values that are valid, break the rule of one variable, or conflict with another variable. */
const values = fc.constantFrom(
  ...[undefined, "", " ", "x", "0", "1", "70000", "true", "false", "300.1.1.1", "-"],
  ...["memory://", "pglite://memory", "redis://127.0.0.1:1", "http://127.0.0.1:1", "https://127.0.0.1:1"],
  ...["/nowhere", import.meta.path, "p".repeat(40), "seeds/demo.yaml"],
);

const ports = fc.constantFrom("0", "x", "70000", " ");
const hosts = fc.constantFrom("127.0.0.1", "300.1.1.1", " ");

function valuesOf(name: string) {
  if (name === "HOST") return hosts;
  return name.endsWith("PORT") ? ports : values;
}

for (const [service, load] of Object.entries(loaders)) {
  // OP-5
  test(`${service} names each wrong variable once when it refuses to start`, () => {
    const names = Object.entries(schemas[service]?.properties ?? {}).flatMap(([name, { secret }]) =>
      secret === true ? [name, `${name}_FILE`] : [name],
    );
    expect(names).not.toEqual([]);
    const environments = fc.record(Object.fromEntries(names.map((name) => [name, valuesOf(name)])));
    fc.assert(
      fc.property(environments, (env) => {
        const lines = refusalOf(() => load(env));
        const headings = lines.filter((line) => !line.startsWith("    "));
        const named = headings.map((line) => line.trim().split(" ")[0] ?? "");
        expect(named).toEqual([...new Set(named)]);
        for (const [index, name] of named.entries()) {
          const again = new RegExp(`\\b${name}\\b.*\\b${name}\\b`);
          expect(headings[index]).not.toMatch(again);
        }
      }),
      { numRuns: runs(100) },
    );
  });
}
