import type { Environment } from "@ostiary/lib/runtime/config";
import { runJob } from "@ostiary/lib/runtime/service";
import { loadBackupConfig } from "./config.ts";
import { createBackup } from "./create.ts";
import type { Manifest } from "./manifest.ts";
import type { Surroundings } from "./postgres-tools.ts";
import { mebibytes, type Say } from "./progress.ts";
import { restoreBackup } from "./restore.ts";
import { verifyBackup } from "./verify.ts";

const say: Say = (line) => void process.stderr.write(`${line}\n`);

/** Runs `ostiary backup create DIRECTORY` as a process that reports and exits. */
export function runCreate(env: Environment, directory: string): Promise<void> {
  return runJob(async (report) => {
    const manifest = await createBackup(loadBackupConfig(env), directory, surroundingsOf(env), say);
    await report(`${directory} contains a complete backup: ${contentOf(manifest)}.\n`);
  });
}

/** Runs `ostiary backup verify DIRECTORY` as a process that reports and exits. */
export function runVerify(directory: string): Promise<void> {
  return runJob(async (report) => {
    const manifest = await verifyBackup(directory, say);
    await report(
      `${directory} contains a complete backup of ${manifest.created_at}: ${contentOf(manifest)}.\n`,
    );
  });
}

/** Runs `ostiary backup restore DIRECTORY` as a process that reports and exits. */
export function runRestore(env: Environment, directory: string): Promise<void> {
  return runJob(async (report) => {
    const manifest = await restoreBackup(loadBackupConfig(env), directory, surroundingsOf(env), say);
    await report(
      `Restored the backup of ${manifest.created_at}: ${contentOf(manifest)}. Everything after that time is lost.\n`,
    );
  });
}

/**
 * Returns the environment of the PostgreSQL programs. A signal ends the running program; the command then
 * fails and cleans up.
 */
function surroundingsOf(env: Environment): Surroundings {
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => interrupt.abort());
  return { env, signal: interrupt.signal };
}

function contentOf({ dumps, version }: Manifest): string {
  const names = dumps.flatMap(({ schemas }) => schemas.map(({ name }) => name));
  const bytes = dumps.reduce((sum, dump) => sum + dump.bytes, 0);
  return `${names.join(", ")} of Ostiary ${version}, ${mebibytes(bytes)}`;
}
