import { type ConfigProblem, checkPeerTls, type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkPorts, runService } from "@ostiary/lib/runtime/service";
import { type AuditConfig, auditProgram, auditVariables } from "./config.ts";
import { checkSigningKeyFile, checkWitnesses } from "./proof/index.ts";
import { checkOperatorStream } from "./streams/operator/config.ts";
import { checkStreamKeyFile } from "./streams/secrets.ts";
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

export function runAudit(env: Environment, parameters: readonly string[] = []): Promise<void> {
  return runService({ program: auditProgram, env, parameters }, loadAudit, wireAudit);
}

/** The longest seal interval with which a stream begins to send an entry within 5 s of its event (AU-116). */
export const SEAL_INTERVAL_MS_MAX = 3_000;

/** Refuses a seal interval that would make streams send entries too late; a check for `loadConfig`. */
export function checkSealInterval({
  SEAL_INTERVAL_MS = 0,
  AUDIT_STREAM_KEY_FILE,
  AUDIT_OPERATOR_STREAM_URL,
}: Partial<AuditConfig>): ConfigProblem[] {
  const hasStreams = AUDIT_STREAM_KEY_FILE !== undefined || AUDIT_OPERATOR_STREAM_URL !== undefined;
  if (!hasStreams || SEAL_INTERVAL_MS <= SEAL_INTERVAL_MS_MAX) return [];
  return [
    {
      variable: "SEAL_INTERVAL_MS",
      message: `must be at most ${SEAL_INTERVAL_MS_MAX} with streams (AUDIT_STREAM_KEY_FILE or AUDIT_OPERATOR_STREAM_URL), which send an event within 5 s.`,
    },
  ];
}
