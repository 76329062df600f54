import { unpackSource } from "../../support/processes/older-source.ts";
import { ROOT } from "../../support/root.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Returns the tag of the newest release, or undefined if the clone has none. */
export function lastRelease(): string | undefined {
  const { stdout } = Bun.spawnSync(["git", "tag", "--list", "v*", "--sort=-version:refname"], { cwd: ROOT });
  return stdout.toString().split("\n").find(Boolean);
}

/** Returns a temporary folder with the source of a commit and its dependencies, or this source if none is named. */
export async function sourceOf(revision: string | undefined): Promise<string> {
  if (revision === undefined) return ROOT;
  const root = temporaryFolder("version");
  await unpackSource(revision, root);
  return root;
}
