import { checkPeerTls, type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { checkSigningKeyFile } from "./checkpoints/key-file.ts";
import { auditVariables } from "./config.ts";
import { checkStreamKeyFile } from "./streams/key-file.ts";
import { checkOperatorStream } from "./streams/operator/config.ts";
import { checkSealInterval } from "./streams/seal-interval.ts";
import { wireAudit } from "./wire.ts";
import { checkWitnesses } from "./witnesses/witnesses-file.ts";

/** Runs the audit service as a process. */
export function runAudit(env: Environment): Promise<void> {
  return runMain(async () => {
    const config = loadConfig(
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
    return [await serve(await wireAudit(config), config)];
  });
}
