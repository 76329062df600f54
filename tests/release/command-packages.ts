import { chmod, copyFile } from "node:fs/promises";
import { join } from "node:path";
import root from "../../package.json" with { type: "json" };
import { ROOT } from "../support/root.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { manifestOf, packFolder, repositoryOf } from "./pack.ts";

/** The systems for which there is an executable. */
export const SYSTEMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"] as const;
export type System = (typeof SYSTEMS)[number];

const LAUNCHER = join(ROOT, "apps/platform/launcher/main.ts");

/** Packs the executable of a system as `@ostiary/{system}`. Returns the path of the archive. */
export async function packExecutable(
  system: System,
  executable: string,
  outdir: string,
  repository?: string,
): Promise<string> {
  const folder = temporaryFolder(`package-${system}`);
  await copyFile(executable, join(folder, "ostiary"));
  await chmod(join(folder, "ostiary"), 0o755);
  await Bun.write(
    join(folder, "README.md"),
    `The executable of [ostiary](https://www.npmjs.com/package/ostiary) for ${system}.\n`,
  );
  const [os, cpu] = system.split("-");
  const manifest = {
    ...manifestOf(`@ostiary/${system}`, `The executable of ostiary for ${system}.`),
    ...repositoryOf(repository, "apps/platform"),
    os: [os],
    cpu: [cpu],
    ...(os === "linux" && { libc: ["glibc"] }),
    preferUnplugged: true,
  };
  return packFolder(folder, manifest, outdir);
}

/** Packs the package `ostiary`, whose command runs the executable of the system. Returns the path of the archive. */
export async function packCommand(outdir: string, repository?: string): Promise<string> {
  const folder = temporaryFolder("package-ostiary");
  const source = await Bun.file(LAUNCHER).text();
  const script = new Bun.Transpiler({ loader: "ts", target: "node" }).transformSync(source);
  await Bun.write(join(folder, "ostiary.js"), `#!/usr/bin/env node\n${script}`);
  await chmod(join(folder, "ostiary.js"), 0o755);
  await copyFile(join(ROOT, "apps/platform/launcher/README.md"), join(folder, "README.md"));
  const manifest = {
    ...manifestOf(
      "ostiary",
      "A gateway with a route registry, identity and audit. npx ostiary start runs all of it.",
    ),
    ...repositoryOf(repository, "apps/platform/launcher"),
    bin: { ostiary: "ostiary.js" },
    engines: { node: ">=18" },
    optionalDependencies: Object.fromEntries(SYSTEMS.map((system) => [`@ostiary/${system}`, root.version])),
  };
  return packFolder(folder, manifest, outdir);
}
