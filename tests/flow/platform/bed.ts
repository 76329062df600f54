import { type RunningProcess, startProcess } from "../../support/start-process.ts";

/** Free ports for all listeners of the platform. */
export const FREE_PORTS = Object.fromEntries(
  ["GATEWAY", "REGISTRY", "IDENTITY", "AUDIT", "PORTAL"]
    .flatMap((name) => [`${name}_PORT`, `${name}_INTERNAL_PORT`])
    .concat("DEMO_PORT", "DEMO_IDENTITY_PROVIDER_PORT")
    .map((name) => [name, "0"]),
);

const ENTRY = "apps/platform/main.ts";

/**
 * Runs the command behind `bun start`, without the installation, with its log lines on standard output. An embedded
 * database is the copy of an empty one.
 */
export function startPlatform(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess(["--preload", "./tests/support/embedded-template-process.ts", ENTRY], platformEnv(env));
}

/** Does the same with an embedded database that the platform makes. */
export function startNewPlatform(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess(ENTRY, platformEnv(env));
}

function platformEnv(env: Record<string, string>): Record<string, string> {
  return { ...FREE_PORTS, LOG_FILE: "-", ...env };
}
