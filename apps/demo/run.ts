import { type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { runMain } from "@ostiary/lib/runtime/service";
import { checkDemo, demoProgram, demoVariables } from "./config.ts";
import { startIdentityProvider } from "./identity-provider.ts";
import { startSampleService } from "./sample-service.ts";

/** Runs the toy identity provider and the sample service as one process. */
export function runDemo(env: Environment, parameters: readonly string[] = []): Promise<void> {
  return runMain(
    async () => {
      const config = loadConfig(demoVariables, env, checkDemo);
      const provider = await startIdentityProvider({
        host: config.HOST,
        port: config.IDENTITY_PROVIDER_PORT,
        variable: "IDENTITY_PROVIDER_PORT",
      });
      const sample = startSampleService({ host: config.HOST, port: config.PORT });
      const ports = { port: sample.port, internal_port: provider.port };
      process.stdout.write(
        `${JSON.stringify({ level: "info", service: "demo", ...ports, message: "listening" })}\n`,
      );
      return [
        {
          name: "demo",
          ...ports,
          shutdown: async () => {
            await Promise.all([provider.stop(), sample.stop()]);
          },
        },
      ];
    },
    { program: demoProgram, env, parameters },
  );
}
