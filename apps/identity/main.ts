import { loadConfig } from "@ostiary/lib/runtime/config";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { checkPeppers, identityVariables } from "./config.ts";
import { wireIdentity } from "./wire.ts";

await runMain(async () => {
  // biome-ignore lint/style/noProcessEnv: main is the one place that reads the environment.
  const config = loadConfig(identityVariables, process.env, checkRolesFile, checkPeppers, checkPorts);
  return [await serve(await wireIdentity(config), config)];
});
