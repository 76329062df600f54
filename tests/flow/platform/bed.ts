import { type RunningProcess, startProcess } from "../../support/start-process.ts";

/** Free ports for all listeners of the platform. */
export const FREE_PORTS = Object.fromEntries(
  ["GATEWAY", "REGISTRY", "IDENTITY", "AUDIT", "PORTAL"]
    .flatMap((name) => [`${name}_PORT`, `${name}_INTERNAL_PORT`])
    .concat("DEMO_PORT", "DEMO_IDENTITY_PROVIDER_PORT")
    .map((name) => [name, "0"]),
);

/** Runs the command behind `bun start`, without the installation, with its log lines on standard output. */
export function startPlatform(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess("apps/platform/main.ts", { ...FREE_PORTS, LOG_FILE: "-", ...env });
}
