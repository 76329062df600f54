import type { ConfigProblem } from "@ostiary/lib/config";
import { portProblems, usesOf } from "@ostiary/lib/service";
import type { PlatformConfig } from "./config.ts";

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

/** Ports that can't be bound, all at once and before anything is opened; a check for `loadConfig`. */
export function checkPlatformPorts(config: Partial<PlatformConfig>): ConfigProblem[] {
  const variables = config.DEMO === false ? PORT_VARIABLES : [...PORT_VARIABLES, ...DEMO_PORT_VARIABLES];
  return portProblems(variables.flatMap((variable) => usesOf(variable, config.HOST, config[variable])));
}
