import { checkPeerTls, type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { type AuditConfig, auditProgram, auditVariables } from "./config.ts";
import { checkSigningKeyFile, checkWitnesses } from "./proof/index.ts";
import { checkStreamKeyFile } from "./streams/key-file.ts";
import { checkOperatorStream } from "./streams/operator/config.ts";
import { checkSealInterval } from "./streams/seal-interval.ts";
import { wireAudit } from "./wire.ts";

/**
 * Reads the variables of an audit service that runs as its own process.
 * @throws ConfigError with every problem
 */
export function loadAudit(env: Environment): AuditConfig {
  return loadConfig(
    auditVariables,
    env,
    checkPorts,
    checkPeerTls,
    checkSigningKeyFile,
    checkStreamKeyFile,
    checkOperatorStream,
    checkSealInterval,
    checkWitnesses,
  );
}

/** Runs the audit service as a process. */
export function runAudit(env: Environment, parameters: readonly string[] = []): Promise<void> {
  return runMain(
    async () => {
      const config = loadAudit(env);
      return [await serve(await wireAudit(config), config)];
    },
    { program: auditProgram, env, parameters },
  );
}
