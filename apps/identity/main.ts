import { loadConfig } from "@ostiary/lib/config";
import { runMain, serve } from "@ostiary/lib/service";
import { identityVariables } from "./config.ts";
import { wireIdentity } from "./wire.ts";

await runMain(async () => {
  // biome-ignore lint/style/noProcessEnv: main is the one place that reads the environment.
  const config = loadConfig(identityVariables, process.env);
  return [await serve(await wireIdentity(config), config)];
});
