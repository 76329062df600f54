import { ConfigError, type ConfigProblem } from "@ostiary/lib/config";
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

/** Refuses ports that can't be bound, all at once and before anything is opened. */
export function checkPorts(config: PlatformConfig): void {
  const variables = config.DEMO ? [...PORT_VARIABLES, ...DEMO_PORT_VARIABLES] : PORT_VARIABLES;
  const problems = variables.flatMap((variable) => portProblem(variable, config.HOST, config[variable]));
  if (problems.length > 0) throw new ConfigError(problems);
}

function portProblem(variable: string, hostname: string, port: number): ConfigProblem[] {
  try {
    Bun.listen({ hostname, port, socket: { data: () => {} } }).stop(true);
    return [];
  } catch {
    const message = `is ${port}, where ${hostname} can not listen: stop what does, or set another port.`;
    return [{ variable, message }];
  }
}
