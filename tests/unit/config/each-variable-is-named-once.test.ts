import { expect, test } from "bun:test";
import { auditVariables } from "@ostiary/audit/config";
import { loadAudit } from "@ostiary/audit/run";
import { gatewayVariables } from "@ostiary/gateway/config";
import { loadGateway } from "@ostiary/gateway/run";
import { identityVariables } from "@ostiary/identity/config";
import { loadIdentity } from "@ostiary/identity/run";
import { ConfigError, type Environment } from "@ostiary/lib/runtime/config";
import { loadPlatform, platformVariables } from "@ostiary/platform/config";
import { registryVariables } from "@ostiary/registry/config";
import { loadRegistry } from "@ostiary/registry/run";
import type { TObject } from "@sinclair/typebox";
import fc from "fast-check";

/** The variables of each service, and the function that reads them at start. */
const services: Record<string, { schema: TObject; load: (env: Environment) => unknown }> = {
  gateway: { schema: gatewayVariables, load: loadGateway },
  registry: { schema: registryVariables, load: loadRegistry },
  identity: { schema: identityVariables, load: loadIdentity },
  audit: { schema: auditVariables, load: loadAudit },
  platform: { schema: platformVariables, load: loadPlatform },
};

/** Returns the lines below the headline of the error with which `load` refuses an environment. */
function refusalOf(load: () => unknown): string[] {
  try {
    load();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n").slice(1);
    throw error;
  }
}

/** Values that are valid, break the rule of one variable, or conflict with another variable. */
const values = fc.constantFrom(
  ...[undefined, "", " ", "x", "0", "1", "70000", "true", "false", "300.1.1.1", "-"],
  ...["memory://", "pglite://memory", "redis://127.0.0.1:1", "http://127.0.0.1:1", "https://127.0.0.1:1"],
  ...[
    "/nowhere",
    `${import.meta.dir}/each-variable-is-named-once.test.ts`,
    "p".repeat(40),
    "seeds/demo.yaml",
  ],
);

/**
 * Ports and hosts that are free or invalid. A port in use would slow this test, because a failed bind is
 * retried after a pause.
 */
const ports = fc.constantFrom("0", "x", "70000", " ");
const hosts = fc.constantFrom("127.0.0.1", "300.1.1.1", " ");

function valuesOf(name: string) {
  if (name === "HOST") return hosts;
  return name.endsWith("PORT") ? ports : values;
}

for (const [service, { schema, load }] of Object.entries(services)) {
  // OP-5
  test(`${service} names each wrong variable once when it refuses to start`, () => {
    const names = Object.entries(schema.properties).flatMap(([name, { secret }]) =>
      secret === true ? [name, `${name}_FILE`] : [name],
    );
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
      { numRuns: 100 },
    );
  });
}
