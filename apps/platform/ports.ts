import type { ConfigProblem } from "@ostiary/lib/runtime/config";
import { portProblems, usesOf } from "@ostiary/lib/runtime/service";

const PORT_VARIABLES = [
  "GATEWAY_PORT",
  "GATEWAY_INTERNAL_PORT",
  "REGISTRY_PORT",
  "REGISTRY_INTERNAL_PORT",
  "IDENTITY_PORT",
  "IDENTITY_INTERNAL_PORT",
  "AUDIT_PORT",
  "AUDIT_INTERNAL_PORT",
] as const;
const DEMO_PORT_VARIABLES = ["DEMO_PORT", "DEMO_IDENTITY_PROVIDER_PORT"] as const;

type PortVariable = (typeof PORT_VARIABLES | typeof DEMO_PORT_VARIABLES)[number];

/** What is valid of the variables that decide where the platform listens. */
export type PlatformPorts = Partial<Record<PortVariable, number> & { HOST: string; DEMO: boolean }>;

/** Ports that can't be bound, all at once and before anything is opened; a check for `loadConfig`. */
export function checkPlatformPorts(config: PlatformPorts): ConfigProblem[] {
  const variables = config.DEMO === false ? PORT_VARIABLES : [...PORT_VARIABLES, ...DEMO_PORT_VARIABLES];
  return portProblems(variables.flatMap((variable) => usesOf(variable, config.HOST, config[variable])));
}
