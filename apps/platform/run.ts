import { runMain, withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { loadPlatform } from "./config.ts";
import { printProgress, printReady } from "./screen.ts";
import { startPlatform } from "./wire.ts";

/** The quick start as a process; with `fresh`, the data of earlier starts is deleted first. */
export function runPlatform(env: NodeJS.ProcessEnv, fresh: boolean): Promise<void> {
  // nobody reads the screen any more, as with `bun start | head -1`: stop as on a signal, without a stack
  process.stdout.on("error", () => process.kill(process.pid, "SIGTERM"));
  return runMain(async () => {
    const started = performance.now();
    const config = loadPlatform(env);
    withRuntimeVariables(env, { BUN_CONFIG_MAX_HTTP_REQUESTS: String(config.MAX_UPSTREAM_REQUESTS) });
    callDirectly(env, config.HOST);
    const platform = await startPlatform({ config, env, fresh, onProgress: printProgress });
    printReady(platform, config, performance.now() - started);
    return [platform];
  });
}

/** The parts call each other on this machine: a proxy of the environment is for what lies beyond. */
function callDirectly(env: NodeJS.ProcessEnv, host: string): void {
  const given = env.no_proxy || env.NO_PROXY;
  if (given === "*") return;
  env.no_proxy = [given, host, "127.0.0.1"].filter(Boolean).join(",");
}
