import { checkPeerTls, type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { checkPeppers, identityVariables } from "./config.ts";
import { wireIdentity } from "./wire.ts";

/** Runs identity as a process. */
export function runIdentity(env: Environment): Promise<void> {
  return runMain(async () => {
    const config = loadConfig(identityVariables, env, checkRolesFile, checkPeppers, checkPeerTls, checkPorts);
    return [await serve(await wireIdentity(config), config)];
  });
}
