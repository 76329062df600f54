import {
  checkPeerTls,
  checkSharedRouteStore,
  type Environment,
  loadConfig,
} from "@ostiary/lib/runtime/config";
import { checkOperatorsFile } from "@ostiary/lib/runtime/config/operators-file";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { checkPorts, runService } from "@ostiary/lib/runtime/service";
import { type RegistryConfig, registryProgram, registryVariables } from "./config.ts";
import { checkOperatorProvider } from "./operators/config.ts";
import { wireRegistry } from "./wire.ts";

/**
 * Reads the variables of a registry that runs as its own process.
 * @throws ConfigError with every problem
 */
export function loadRegistry(env: Environment): RegistryConfig {
  return loadConfig(
    registryVariables,
    env,
    checkRolesFile,
    checkOperatorsFile,
    checkOperatorProvider,
    checkSharedRouteStore,
    checkPeerTls,
    checkPorts,
  );
}

export function runRegistry(env: Environment, parameters: readonly string[] = []): Promise<void> {
  return runService({ program: registryProgram, env, parameters }, loadRegistry, wireRegistry);
}
