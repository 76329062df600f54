import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, RunImpossible } from "../faults/system/system.ts";
import type { Leash } from "../support/clean-up-after-kill.ts";
import { SourceUnavailable, unpackSource } from "../support/older-source.ts";
import { RELEASES, type Release, WORKING_TREE } from "./releases.ts";

/** Returns the release of a version; null for the working tree. */
export function releaseOf(version: string): Release | null {
  if (version === WORKING_TREE) return null;
  const release = RELEASES.find((each) => each.version === version);
  if (release !== undefined) return release;
  const known = [...RELEASES.map((each) => each.version), WORKING_TREE].join(", ");
  throw new RunImpossible(`There is no version "${version}". There are: ${known}.`);
}

/** Returns why this clone cannot run a release; null when it can. */
export function absenceOf({ version, revision }: Release, clone = ROOT): string | null {
  const { exitCode } = Bun.spawnSync(["git", "-C", clone, "cat-file", "-e", `${revision}^{commit}`], {
    stderr: "ignore",
  });
  if (exitCode === 0) return null;
  return `This clone does not have ${version} (commit ${revision.slice(0, 12)}): run git fetch --unshallow, or clone the whole history.`;
}

/**
 * Returns the folders of some versions' sources with their dependencies. The folders are removed when this process
 * ends.
 *
 * @throws RunImpossible when the clone lacks a release, or its dependencies cannot be installed
 */
export async function rootsOf(
  versions: Iterable<string>,
  leash: Leash,
  progress: (line: string) => void,
): Promise<ReadonlyMap<string, string>> {
  const scratch = await mkdtemp(join(tmpdir(), "ostiary-versions-"));
  leash.directory(scratch);
  const roots = new Map<string, string>();
  for (const version of new Set(versions)) {
    progress(`preparing ${version}`);
    roots.set(version, await rootOf(version, scratch));
  }
  return roots;
}

/**
 * Returns the folder of a version's source with its dependencies. The source of a release is put into
 * `scratch`.
 *
 * @throws RunImpossible when the clone lacks the release, or its dependencies cannot be installed
 */
export async function rootOf(version: string, scratch: string): Promise<string> {
  const release = releaseOf(version);
  if (release === null) return ROOT;
  const absence = absenceOf(release);
  if (absence !== null) throw new RunImpossible(absence);
  const root = join(scratch, version);
  await unpackSource(release.revision, root).catch((error) => {
    throw error instanceof SourceUnavailable ? new RunImpossible(`${version}: ${error.message}`) : error;
  });
  return root;
}
