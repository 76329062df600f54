import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { runToEnd } from "./run-to-end.ts";

/** The executable that `bun run build` wrote into its own folder, with the output of the build. */
export interface Executable {
  readonly path: string;
  readonly folder: string;
  readonly said: string;
}

/** Whether this machine can run the executable, which `buildExecutable` builds for Linux on x64. */
export const canRunExecutable = process.platform === "linux" && process.arch === "x64";

export async function buildExecutable(): Promise<Executable> {
  const folder = temporaryFolder("executable");
  const { exitCode, stdout, stderr } = await runBuild("linux-x64", "--outdir", folder);
  if (exitCode !== 0) throw new Error(`The build exited with code ${exitCode}: ${stderr}`);
  return {
    path: join(folder, "ostiary-linux-x64"),
    folder,
    said: stdout,
  };
}

/** Runs `bun run build`. */
export function runBuild(...parameters: string[]) {
  return runToEnd([process.execPath, "apps/platform/build/main.ts", ...parameters]);
}
