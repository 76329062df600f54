import { mkdir } from "node:fs/promises";
import { ROOT } from "../root.ts";
import { RunImpossible } from "../run-impossible.ts";

/**
 * Unpacks the source of a commit into a folder and installs its dependencies.
 *
 * @throws RunImpossible when the clone lacks the commit, or its dependencies cannot be installed
 */
export async function unpackSource(revision: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const archive = Bun.spawn(["git", "-C", ROOT, "archive", "--end-of-options", revision], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const unpacked = Bun.spawn(["tar", "-x", "-C", folder], { stdin: archive.stdout, stderr: "ignore" });
  const [said, ...codes] = await Promise.all([archive.stderr.text(), archive.exited, unpacked.exited]);
  if (codes.some((code) => code !== 0)) throw new RunImpossible(`git archive ${revision}: ${said.trim()}`);
  const installed = Bun.spawn([process.execPath, "install", "--frozen-lockfile", "--silent"], {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
  });
  const [problem, code] = await Promise.all([installed.stderr.text(), installed.exited]);
  if (code !== 0) throw new RunImpossible(`bun install of ${revision}: ${problem.trim()}`);
}
