import { checkPeerTls, type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { checkSigningKeyFile } from "./checkpoints/signing-key.ts";
import { auditVariables } from "./config.ts";
import { wireAudit } from "./wire.ts";

/** Audit as a process. */
export function runAudit(env: Environment): Promise<void> {
  return runMain(async () => {
    const config = loadConfig(auditVariables, env, checkPorts, checkPeerTls, checkSigningKeyFile);
    return [await serve(await wireAudit(config), config)];
  });
}
