import { parseArgs } from "node:util";
import { loadConfig } from "@ostiary/lib/config";
import { runMain, StartRefused, withRuntimeVariables } from "@ostiary/lib/service";
import { platformVariables } from "./config.ts";
import { printProgress, printReady } from "./screen.ts";
import { startPlatform } from "./wire.ts";

await runMain(async () => {
  // biome-ignore lint/style/noProcessEnv: main is the one place that reads the environment
  const env = process.env;
  const started = performance.now();
  const fresh = readArguments();
  const config = loadConfig(platformVariables, env);
  withRuntimeVariables(env, { BUN_CONFIG_MAX_HTTP_REQUESTS: String(config.MAX_UPSTREAM_REQUESTS) });
  const platform = await startPlatform({ config, env, fresh, onProgress: printProgress });
  printReady(platform, config, performance.now() - started);
  return [platform];
});

function readArguments(): boolean {
  try {
    const { values } = parseArgs({ options: { fresh: { type: "boolean", default: false } } });
    return values.fresh;
  } catch {
    throw new StartRefused("Usage: bun start [--fresh]\n  --fresh  delete the data of earlier starts first");
  }
}
