import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT } from "./documents.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Returns a PATH on which each name runs its shell script. Other programs stay available. */
export function pathWith(scripts: Record<string, string>): string {
  const folder = temporaryFolder("programs");
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return `${folder}${delimiter}${process.env.PATH ?? ""}`;
}

/** Returns a shell script that runs a TypeScript file of this repository, with the script's arguments. */
export function scriptOf(file: string): string {
  return `exec "${process.execPath}" "${join(ROOT, file)}" "$@"`;
}
