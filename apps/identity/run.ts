import { checkPeerTls, type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { checkPorts, runService } from "@ostiary/lib/runtime/service";
import { checkPeppers, type IdentityConfig, identityProgram, identityVariables } from "./config.ts";
import { wireIdentity } from "./wire.ts";

/**
 * Reads the variables of an identity service that runs as its own process.
 * @throws ConfigError with every problem
 */
export function loadIdentity(env: Environment): IdentityConfig {
  return loadConfig(identityVariables, env, checkRolesFile, checkPeppers, checkPeerTls, checkPorts);
}

export function runIdentity(env: Environment, parameters: readonly string[] = []): Promise<void> {
  return runService({ program: identityProgram, env, parameters }, loadIdentity, wireIdentity);
}
