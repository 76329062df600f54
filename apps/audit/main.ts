import { loadConfig } from "@ostiary/lib/runtime/config";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { checkSigningKeyFile } from "./checkpoints/signing-key.ts";
import { auditVariables } from "./config.ts";
import { wireAudit } from "./wire.ts";

await runMain(async () => {
  // biome-ignore lint/style/noProcessEnv: main is the one place that reads the environment.
  const config = loadConfig(auditVariables, process.env, checkPorts, checkSigningKeyFile);
  return [await serve(await wireAudit(config), config)];
});
