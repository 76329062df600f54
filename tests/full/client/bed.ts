import { basename, join } from "node:path";
import { $ } from "bun";
import { packClient } from "../../release/client-package.ts";
import { lastingFolder } from "../../support/temporary-folder.ts";

let installed: Promise<string> | undefined;

/** Returns a folder in which the packed client is installed, as its users install it. Files share the folder. */
export function installedClient(): Promise<string> {
  installed ??= install();
  return installed;
}

async function install(): Promise<string> {
  const folder = lastingFolder("client-installed");
  const archive = await packClient(folder);
  await Bun.write(
    join(folder, "package.json"),
    JSON.stringify({ name: "user", private: true, type: "module" }),
  );
  await $`${process.execPath} add ./${basename(archive)}`.cwd(folder).quiet();
  return folder;
}
