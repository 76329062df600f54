import { auditVariables } from "@ostiary/audit/config";
import { gatewayVariables } from "@ostiary/gateway/config";
import { checkRolesFile, identityVariables } from "@ostiary/identity/config";
import { type ConfigProblem, configProblems } from "@ostiary/lib/runtime/config";
import { registryVariables } from "@ostiary/registry/config";

export type Environment = Readonly<Record<string, string | undefined>>;

/** In place of what the platform decides, until it has: a part must not miss what its operator need not give. */
const TO_BE_DECIDED = {
  DATABASE_URL: "pglite://memory",
  COUNTER_STORE_URL: "memory://",
  ADMIN_TOKEN: "to-be-decided",
  CREDENTIAL_VALIDATE_URL: "http://127.0.0.1",
  AUDIT_URL: "http://127.0.0.1",
};

/** What the four services would refuse of the operator's variables, each problem once. */
export function checkParts(env: Environment): ConfigProblem[] {
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => value !== "" || !isDecided(name)),
  );
  const variables = { ...TO_BE_DECIDED, ...given, PORT: "0", INTERNAL_PORT: "0" };
  const found = [
    ...configProblems(registryVariables, variables),
    ...configProblems(identityVariables, variables, checkRolesFile),
    ...configProblems(auditVariables, variables),
    ...configProblems(gatewayVariables, variables, checkNotShared),
  ];
  const texts = found.map(({ variable, message }) => `${variable} ${message}`);
  return found.filter((_, index) => texts.indexOf(texts[index] ?? "") === index);
}

function isDecided(name: string): boolean {
  return Object.hasOwn(TO_BE_DECIDED, name);
}

function checkNotShared({ REUSE_PORT }: { REUSE_PORT?: boolean }): ConfigProblem[] {
  if (REUSE_PORT !== true) return [];
  return [
    {
      variable: "REUSE_PORT",
      message: "is for gateways that run alone: the platform shares none of its ports.",
    },
  ];
}
