import { checkPeerTls, type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { checkPeppers, type IdentityConfig, identityProgram, identityVariables } from "./config.ts";
import { wireIdentity } from "./wire.ts";

/**
 * Reads the variables of an identity service that runs as its own process.
 * @throws ConfigError with every problem
 */
export function loadIdentity(env: Environment): IdentityConfig {
  return loadConfig(identityVariables, env, checkRolesFile, checkPeppers, checkPeerTls, checkPorts);
}

/** Runs identity as a process. */
export function runIdentity(env: Environment, parameters: readonly string[] = []): Promise<void> {
  return runMain(
    async () => {
      const config = loadIdentity(env);
      return [await serve(await wireIdentity(config), config)];
    },
    { program: identityProgram, env, parameters },
  );
}
