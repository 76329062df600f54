import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wireAudit } from "@ostiary/audit";
import { loadAudit } from "@ostiary/audit/run";
import { wireGateway } from "@ostiary/gateway";
import { loadGateway } from "@ostiary/gateway/run";
import { wireIdentity } from "@ostiary/identity";
import { loadIdentity } from "@ostiary/identity/run";
import type { Environment } from "@ostiary/lib/runtime/config";
import { serve, startFailure } from "@ostiary/lib/runtime/service";
import { wireRegistry } from "@ostiary/registry";
import { loadRegistry } from "@ostiary/registry/run";
import { leash } from "./services.ts";
import { FREE, ProcessEnded, parseLine, type RunningProcess } from "./start-process.ts";

/** Does what the `main.ts` of each service does, except for signals and the end of the process. */
const SERVICES = {
  async gateway(env: Environment) {
    const config = loadGateway(env);
    return serve(await wireGateway(config), config);
  },
  async registry(env: Environment) {
    const config = loadRegistry(env);
    return serve(await wireRegistry(config), config);
  },
  async identity(env: Environment) {
    const config = loadIdentity(env);
    return serve(await wireIdentity(config), config);
  },
  async audit(env: Environment) {
    const config = loadAudit(env);
    return serve(await wireAudit(config), config);
  },
};
export type ServiceName = keyof typeof SERVICES;

/** A service that runs in the test's process, for tests that neither kill it nor send it signals. */
export interface ServiceHere extends Pick<RunningProcess, "url" | "internal_url" | "logs"> {
  /** Stops the service as a signal does. */
  stop(): Promise<void>;
}

/** Starts a service as `startProcess` does, but in this process. */
export async function startHere(name: ServiceName, env: Record<string, string>): Promise<ServiceHere> {
  const folder = mkdtempSync(join(tmpdir(), "ostiary-here-"));
  leash().directory(folder);
  const log = join(folder, "log");
  const lines = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n") : []);
  const running = await SERVICES[name]({ ...FREE, LOG_FILE: log, ...env }).catch((error: unknown) => {
    throw processEnded(name, error, lines());
  });
  let stopped: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${running.port}`,
    internal_url: `http://127.0.0.1:${running.internal_port}`,
    logs: () => lines().flatMap(parseLine),
    stop() {
      stopped ??= running.shutdown();
      return stopped;
    },
  };
}

/** Returns the error of `startProcess` for a process that cannot start because of `error`. */
export function processEnded(name: string, error: unknown, stdout: readonly string[] = []): ProcessEnded {
  const { exit_code, text } = startFailure(error);
  return new ProcessEnded(name, exit_code, stdout, text.trimEnd().split("\n"));
}
