import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { commandOf } from "./command-of.ts";

/** Returns a PATH on which each name runs its shell script. Other programs stay available. */
export function pathWith(scripts: Record<string, string>): string {
  const folder = temporaryFolder("programs");
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return `${folder}${delimiter}${process.env.PATH ?? ""}`;
}

/** Returns a shell script that runs an entry file of an app, with the script's arguments. */
export function scriptOf(entry: string): string {
  return `exec ${commandOf(entry)
    .map((word) => `"${word}"`)
    .join(" ")} "$@"`;
}
