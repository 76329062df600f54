import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { $ } from "bun";
import root from "../../package.json" with { type: "json" };
import { ROOT } from "../support/root.ts";

/** Returns the fields that all published packages share. */
export function manifestOf(name: string, description: string): Record<string, unknown> {
  return { name, version: root.version, description, license: root.license, type: "module" };
}

/**
 * Returns the field `repository` of a manifest, if the URL of the repository is known. npm compares the URL with the
 * provenance, and resolves links of the README by it.
 */
export function repositoryOf(url: string | undefined, directory: string): { repository?: object } {
  return url === undefined ? {} : { repository: { type: "git", url: `git+${url}.git`, directory } };
}

/** Packs a folder with a manifest, as npm would publish it. Returns the path of the archive. */
export async function packFolder(
  folder: string,
  manifest: Record<string, unknown>,
  outdir: string,
): Promise<string> {
  await mkdir(outdir, { recursive: true });
  await cp(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  await Bun.write(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const packed = await $`${process.execPath} pm pack --quiet --destination ${outdir}`.cwd(folder).text();
  return packed.trim();
}
