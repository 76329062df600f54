import { type ConfigProblem, host, type Program, port } from "@ostiary/lib/runtime/config";
import { portProblems, usesOf } from "@ostiary/lib/runtime/service";
import { type Static, Type } from "@sinclair/typebox";

/** The environment variables of the demo's two servers when they run as a separate process. */
export const demoVariables = Type.Object({
  HOST: host("127.0.0.1"),
  PORT: port(4000, "The sample service."),
  IDENTITY_PROVIDER_PORT: port(4001, "The toy identity provider."),
});

/** Describes the demo's servers for `--help` and for hints on misspelled variables. */
export const demoProgram: Program = {
  app: "demo",
  about:
    "The demo has a toy identity provider, which gives a token to everybody who asks, and a sample service.",
  variables: demoVariables,
};

/** Reports the demo's ports that cannot be bound. Passed to `loadConfig`. */
export function checkDemo(config: Partial<Static<typeof demoVariables>>): ConfigProblem[] {
  return portProblems([
    ...usesOf("PORT", config.HOST, config.PORT),
    ...usesOf("IDENTITY_PROVIDER_PORT", config.HOST, config.IDENTITY_PROVIDER_PORT),
  ]);
}
