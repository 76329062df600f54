import { type RunningProcess, startProcess } from "../../support/start-process.ts";

/** Free ports for everything that the platform listens on. */
export const FREE_PORTS = Object.fromEntries(
  ["GATEWAY", "REGISTRY", "IDENTITY", "AUDIT"]
    .flatMap((name) => [`${name}_PORT`, `${name}_INTERNAL_PORT`])
    .concat("DEMO_PORT", "DEMO_IDENTITY_PROVIDER_PORT")
    .map((name) => [name, "0"]),
);

/** Starts `bun start`, but for the installation, with its log lines on standard output. */
export function startPlatform(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess("apps/platform/main.ts", { ...FREE_PORTS, LOG_FILE: "-", ...env });
}
