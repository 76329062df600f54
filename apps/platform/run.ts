import { runMain, withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { loadPlatform, type PlatformConfig, platformProgram } from "./config.ts";
import { type Commands, printGoodbye, printProgress, startScreen } from "./screen.ts";
import { startPlatform } from "./wire.ts";

interface RunOptions {
  /** The process's own environment. The platform adds variables that Bun reads, such as `no_proxy`. */
  env: NodeJS.ProcessEnv;
  commands: Commands;
}

/** Runs the quick start as a process. */
export function runPlatform({ env, commands }: RunOptions): Promise<void> {
  // if the reader of stdout has exited, as in `bun start | head -1`, shuts down as on SIGTERM without a stack trace
  process.stdout.once("error", () => process.kill(process.pid, "SIGTERM"));
  process.stdout.on("error", () => {});
  return runMain(
    async () => {
      const started = performance.now();
      const config = loadPlatform(env);
      withRuntimeVariables(env, { BUN_CONFIG_MAX_HTTP_REQUESTS: String(config.MAX_UPSTREAM_REQUESTS) });
      callDirectly(env, config);
      const platform = await startPlatform({ config, env, cli: commands.cli, onProgress: printProgress });
      process.stdout.write(startScreen(platform, config, commands, performance.now() - started));
      const shutdown = async () => {
        printProgress("\nStopping once the requests in flight are complete");
        await platform.shutdown();
        await printGoodbye(config, commands);
      };
      return [{ ...platform, shutdown }];
    },
    { program: platformProgram, env },
  );
}

/** Excludes this machine from the proxy of the environment, because the parts call each other directly. */
function callDirectly(env: NodeJS.ProcessEnv, config: PlatformConfig): void {
  const given = env.no_proxy || env.NO_PROXY;
  if (given === "*") return;
  const { GATEWAY_INTERNAL_HOST, REGISTRY_HOST, IDENTITY_HOST, AUDIT_HOST, PORTAL_HOST, DEMO_HOST } = config;
  const hosts = [GATEWAY_INTERNAL_HOST, REGISTRY_HOST, IDENTITY_HOST, AUDIT_HOST, PORTAL_HOST, DEMO_HOST];
  env.no_proxy = [given, ...hosts, "127.0.0.1"].filter(Boolean).join(",");
}
