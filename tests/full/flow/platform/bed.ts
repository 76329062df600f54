import { FREE_PORTS } from "../../../app/platform/bed.ts";
import { type RunningProcess, startProcess } from "../../../support/processes/start-process.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

const ENTRY = "apps/platform/main.ts";

/**
 * Starts the platform as `bun start` does, without the installation of packages, with its log on standard
 * output. An embedded database starts as a copy of an empty one, which is faster.
 */
export function startPlatform(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess(
    ["--preload", "./tests/support/stores/embedded-template-process.ts", ENTRY],
    platformEnv(env),
  );
}

/**
 * Starts the platform as {@link startPlatform} does, but the platform creates its embedded database itself.
 */
export function startNewPlatform(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess(ENTRY, platformEnv(env));
}

function platformEnv(env: Record<string, string>): Record<string, string> {
  return { ...FREE_PORTS, LOG_FILE: "-", ...env };
}

/** Waits until the platform has printed its start screen. Returns the places on the screen, by name. */
export async function startScreen({ stdout }: RunningProcess): Promise<Record<string, string>> {
  await waitFor(() => stdout.some((line) => line.startsWith("Ctrl-C")), { timeoutMs: 120_000 });
  const lines = stdout.flatMap((line) => [...line.matchAll(/^ {2}(\S.*?) {2,}(\S.*)$/g)]);
  return Object.fromEntries(lines.map(([, name = "", place = ""]) => [name, place]));
}
