import { join } from "node:path";
import { ROOT } from "../support/root.ts";

/**
 * Returns the section of a version in the changelog, without its heading.
 * @throws Error if there is no section, or an empty one
 */
export function notesIn(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m);
  const section = sections.find((each) => each.startsWith(`${version}\n`));
  const notes = section?.slice(version.length).trim();
  if (!notes) throw new Error(`.github/CHANGELOG.md has no section "## ${version}" with text.`);
  return `${notes}\n`;
}

export async function releaseNotes(version: string): Promise<string> {
  return notesIn(await Bun.file(join(ROOT, ".github/CHANGELOG.md")).text(), version);
}
