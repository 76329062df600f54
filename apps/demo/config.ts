import { type ConfigProblem, host, port } from "@ostiary/lib/runtime/config";
import { portProblems, usesOf } from "@ostiary/lib/runtime/service";
import { type Static, Type } from "@sinclair/typebox";

/** Where the demo's two servers listen when they run as a process of their own. */
export const demoVariables = Type.Object({
  HOST: host("127.0.0.1"),
  PORT: port(4000, "The sample service."),
  IDENTITY_PROVIDER_PORT: port(4001, "The toy identity provider."),
});

/** A check for `loadConfig`. */
export function checkDemo(config: Partial<Static<typeof demoVariables>>): ConfigProblem[] {
  return portProblems([
    ...usesOf("PORT", config.HOST, config.PORT),
    ...usesOf("IDENTITY_PROVIDER_PORT", config.HOST, config.IDENTITY_PROVIDER_PORT),
  ]);
}
