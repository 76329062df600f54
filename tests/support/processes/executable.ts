import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { runToEnd } from "./run-to-end.ts";

/** Whether this machine can run the executable, which `buildExecutable` builds for Linux on x64. */
export const canRunExecutable = process.platform === "linux" && process.arch === "x64";

/** Builds the executable into a folder of its own, and returns its path. */
export async function buildExecutable(): Promise<string> {
  const folder = temporaryFolder("executable");
  const { exitCode, stderr } = await runBuild("linux-x64", "--outdir", folder);
  if (exitCode !== 0) throw new Error(`The build exited with code ${exitCode}: ${stderr}`);
  return join(folder, "ostiary-linux-x64");
}

/** Returns the path of the executable that `bun run verify` has built, or builds one. */
export async function executable(): Promise<string> {
  return process.env.TEST_EXECUTABLE || buildExecutable();
}

export function runBuild(...parameters: string[]) {
  return runToEnd([process.execPath, "apps/platform/build/main.ts", ...parameters]);
}
