import { checkSharedRouteStore, loadConfig } from "@ostiary/lib/runtime/config";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { registryVariables } from "./config.ts";
import { wireRegistry } from "./wire.ts";

await runMain(async () => {
  // biome-ignore lint/style/noProcessEnv: the one place that reads the environment
  const env = process.env;
  const config = loadConfig(registryVariables, env, checkRolesFile, checkSharedRouteStore, checkPorts);
  return [await serve(await wireRegistry(config), config)];
});
