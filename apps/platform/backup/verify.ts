import { createHash } from "node:crypto";
import { join } from "node:path";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { type Dump, type Manifest, readManifest } from "./manifest.ts";
import { Progress, type Say } from "./progress.ts";

/**
 * Returns the manifest of a backup after checking the checksum of every file (OP-64).
 *
 * @throws StartRefused for a missing or damaged file
 */
export async function verifyBackup(directory: string, say: Say): Promise<Manifest> {
  const manifest = await readManifest(directory);
  for (const dump of manifest.dumps) await verifyDump(directory, dump, say);
  return manifest;
}

async function verifyDump(directory: string, { file, bytes, sha256 }: Dump, say: Say): Promise<void> {
  const path = join(directory, file);
  const found = Bun.file(path);
  if (!(await found.exists())) throw new StartRefused(`The backup lacks ${path}. Use another backup.`);
  if (found.size !== bytes) {
    throw new StartRefused(
      `${path} has ${found.size} bytes, and the manifest says ${bytes}: the file is damaged. Use another backup.`,
    );
  }
  const progress = new Progress(say, `Checking ${file}`, bytes);
  const hash = createHash("sha256");
  for await (const chunk of found.stream()) {
    hash.update(chunk);
    progress.passed(chunk.length);
  }
  if (hash.digest("hex") !== sha256) {
    throw new StartRefused(
      `${path} does not have the checksum in the manifest: the file is damaged. Use another backup.`,
    );
  }
}
