import { expect, test } from "bun:test";
import { checkSigningKeyFile } from "@ostiary/audit/checkpoints/key-file";
import { auditVariables } from "@ostiary/audit/config";
import { checkAudit } from "@ostiary/gateway/audit/config";
import { gatewayVariables } from "@ostiary/gateway/config";
import { checkPeppers, identityVariables } from "@ostiary/identity/config";
import {
  ConfigError,
  checkPeerTls,
  checkSharedRouteStore,
  configProblems,
  type Environment,
} from "@ostiary/lib/runtime/config";
import { checkOperatorsFile } from "@ostiary/lib/runtime/config/operators-file";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { checkCertificate, checkPorts } from "@ostiary/lib/runtime/service";
import { loadPlatform, platformVariables } from "@ostiary/platform/config";
import { registryVariables } from "@ostiary/registry/config";
import { checkOperatorProvider } from "@ostiary/registry/operators/config";
import type { TObject } from "@sinclair/typebox";
import fc from "fast-check";

/** The variables of each service. `refusal` returns the error lines with which it refuses an environment. */
const services: Record<string, { schema: TObject; refusal: (env: Environment) => string[] }> = {
  gateway: {
    schema: gatewayVariables,
    refusal: (env) =>
      linesOf(
        configProblems(
          gatewayVariables,
          env,
          checkAudit,
          checkSharedRouteStore,
          checkCertificate,
          checkPeerTls,
          checkPorts,
        ),
      ),
  },
  registry: {
    schema: registryVariables,
    refusal: (env) =>
      linesOf(
        configProblems(
          registryVariables,
          env,
          checkRolesFile,
          checkOperatorsFile,
          checkOperatorProvider,
          checkSharedRouteStore,
          checkPeerTls,
          checkPorts,
        ),
      ),
  },
  identity: {
    schema: identityVariables,
    refusal: (env) =>
      linesOf(configProblems(identityVariables, env, checkRolesFile, checkPeppers, checkPeerTls, checkPorts)),
  },
  audit: {
    schema: auditVariables,
    refusal: (env) =>
      linesOf(configProblems(auditVariables, env, checkPorts, checkPeerTls, checkSigningKeyFile)),
  },
  platform: { schema: platformVariables, refusal: refusalOfPlatform },
};

function linesOf(problems: ReturnType<typeof configProblems>): string[] {
  return new ConfigError(problems).message.split("\n").slice(1);
}

function refusalOfPlatform(env: Environment): string[] {
  try {
    loadPlatform(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return linesOf([...error.problems]);
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

for (const [service, { schema, refusal }] of Object.entries(services)) {
  // OP-5
  test(`${service} names each wrong variable once when it refuses to start`, () => {
    const names = Object.entries(schema.properties).flatMap(([name, { secret }]) =>
      secret === true ? [name, `${name}_FILE`] : [name],
    );
    const environments = fc.record(Object.fromEntries(names.map((name) => [name, valuesOf(name)])));
    fc.assert(
      fc.property(environments, (env) => {
        const lines = refusal(env);
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
