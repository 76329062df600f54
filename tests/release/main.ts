import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { $ } from "bun";
import { Command, InvalidArgumentError } from "commander";
import root from "../../package.json" with { type: "json" };
import { billOfMaterials } from "../supply-chain/bill-of-materials.ts";
import { runBuild } from "../support/processes/executable.ts";
import { ROOT } from "../support/root.ts";
import { useServices } from "../support/stores/services.ts";
import { checkRelease } from "./check.ts";
import { packClient } from "./client-package.ts";
import { packCommand, packExecutable, SYSTEMS, type System } from "./command-packages.ts";
import { releasedDescriptions } from "./descriptions.ts";
import { releaseNotes } from "./notes.ts";

/** Makes a release in a folder, and checks it. The workflow release.yml publishes the folder's files. */
const program = new Command("bun run release")
  .description(
    "Make the files of a release and check them. Only the workflow release.yml publishes, on a tag.",
  )
  .argument("[systems...]", `any of ${SYSTEMS.join(", ")}`, addSystem, [])
  .requiredOption("--dry-run", "publish nothing")
  .option("--tag <tag>", "the tag of the release, which must name the version", tagOf)
  .option("--repository <url>", "the https URL of the repository, for the packages' manifests", repositoryUrl)
  .option("--outdir <folder>", "where the files are written", "dist")
  .parse();
const { outdir: folder, repository }: { outdir: string; repository?: string } = program.opts();
// Packages are packed in folders of their own.
const outdir = resolve(folder);
const named: System[] = program.processedArgs[0];
const systems = named.length > 0 ? named : SYSTEMS;

function addSystem(text: string, chosen: System[]): System[] {
  const system = SYSTEMS.find((each) => each === text);
  if (system === undefined) throw new InvalidArgumentError(`Use one of ${SYSTEMS.join(", ")}.`);
  return [...chosen, system];
}

function tagOf(text: string): string {
  if (text !== `v${root.version}`)
    throw new InvalidArgumentError(
      `The version in package.json is ${root.version}, so the tag is v${root.version}.`,
    );
  return text;
}

function repositoryUrl(text: string): string {
  if (!/^https:\/\/[\w.-]+(\/[\w.-]+)+$/.test(text))
    throw new InvalidArgumentError("Use an https URL with a path.");
  return text;
}

/** Writes a file of the release. */
async function put(name: string, text: string): Promise<void> {
  await Bun.write(join(outdir, name), text);
  say(name);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

// Notes that are missing end the release before the long work.
const notes = await releaseNotes(root.version);
await rm(outdir, { recursive: true, force: true });
await mkdir(outdir, { recursive: true });
await put("RELEASE_NOTES.md", notes);

const built = await runBuild(...systems, "--outdir", outdir);
process.stdout.write(built.stdout);
if (built.exitCode !== 0) throw new Error(`The build of the executables failed:\n${built.stderr}`);
// The last step writes the sums of all files.
await rm(join(outdir, "SHA256SUMS"));

for (const system of systems)
  say(await packExecutable(system, join(outdir, `ostiary-${system}`), outdir, repository));
say(await packCommand(outdir, repository));
say(await packClient(outdir, repository));

const stores = useServices(process.env);
try {
  for (const [api, description] of Object.entries(await releasedDescriptions()))
    await put(`openapi-${api}.json`, `${JSON.stringify(description, null, 2)}\n`);
} finally {
  await stores.close();
}
await put("routes.schema.json", await Bun.file(join(ROOT, "seeds/routes.schema.json")).text());
await put("sbom.cdx.json", `${await billOfMaterials()}\n`);

if ((await $`docker info`.quiet().nothrow()).exitCode === 0) {
  await $`docker build --file apps/platform/deploy/containers/Dockerfile --tag ostiary:${root.version} .`.cwd(
    ROOT,
  );
  const printed = await $`docker run --rm --read-only ostiary:${root.version} --version`.text();
  if (printed.trim() !== root.version) throw new Error(`The image prints the version ${printed.trim()}.`);
  say(`image ostiary:${root.version}`);
} else {
  say("image: skipped, since no Docker engine responds");
}

await Bun.write(join(outdir, "SHA256SUMS"), await checkRelease(outdir, systems));
say(`checked: ${join(outdir, "SHA256SUMS")} has the sums of all files`);
process.exit();
