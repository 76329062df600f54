import { join } from "node:path";
import { SourceUnavailable, unpackSource } from "../../support/processes/older-source.ts";
import { ROOT } from "../../support/root.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type Progress, RunImpossible } from "../faults/system/system.ts";
import { RELEASES, type Release, WORKING_TREE } from "./releases.ts";

/**
 * Returns the version of the last release.
 *
 * @throws RunImpossible if there is no release yet
 */
export function lastRelease(): string {
  const last = RELEASES.at(-1);
  if (last !== undefined) return last.version;
  throw new RunImpossible(
    "There is no release of 1.0.0 or later yet: this source has nothing to run beside.",
  );
}

/**
 * Returns the release with this version, or null for the working tree.
 *
 * @throws RunImpossible if there is no such release
 */
export function releaseOf(version: string): Release | null {
  if (version === WORKING_TREE) return null;
  const release = RELEASES.find((each) => each.version === version);
  if (release !== undefined) return release;
  const known = [...RELEASES.map((each) => each.version), WORKING_TREE].join(", ");
  throw new RunImpossible(`There is no version "${version}". Choose one of: ${known}.`);
}

/**
 * Returns a message if this clone of the repository lacks the commit of a release, or null if it has the
 * commit.
 */
export function absenceOf({ version, revision }: Release, clone = ROOT): string | null {
  const { exitCode } = Bun.spawnSync(["git", "-C", clone, "cat-file", "-e", `${revision}^{commit}`], {
    stderr: "ignore",
  });
  if (exitCode === 0) return null;
  return `This clone does not have ${version} (commit ${revision.slice(0, 12)}): run git fetch --unshallow, or clone the whole history.`;
}

/**
 * Returns the source folders of some versions, by version, with dependencies installed. Folders of releases
 * are temporary, and are removed when this process exits.
 *
 * @throws RunImpossible if the clone lacks a release, or if dependencies cannot be installed
 */
export async function rootsOf(
  versions: Iterable<string>,
  progress: Progress,
): Promise<ReadonlyMap<string, string>> {
  const scratch = temporaryFolder("versions");
  const roots = new Map<string, string>();
  for (const version of new Set(versions)) {
    progress(`preparing ${version}`);
    roots.set(version, await rootOf(version, scratch));
  }
  return roots;
}

/**
 * Returns the source folder of a version, with dependencies installed. Unpacks the source of a release into a
 * folder in `scratch`.
 *
 * @throws RunImpossible if the clone lacks the release, or if dependencies cannot be installed
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
