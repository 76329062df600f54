import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { embedPlugin } from "./embed-plugin.ts";
import { ROOT } from "./embedded-files.ts";

/**
 * The targets of the executable `ostiary`, which contains the whole product in one file, for machines without
 * Bun. Bun fetches the runtimes of other systems from the npm registry (`@oven/bun-…`) and caches them.
 */
const TARGETS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"] as const;
type Target = (typeof TARGETS)[number];

const ENTRY = "apps/platform/ostiary.ts";
const MIB = 1_048_576;

const program = new Command("bun run build")
  .description("Build the executable ostiary, for all systems or for the named targets")
  .argument("[targets...]", `any of ${TARGETS.join(", ")}`, addTarget, [])
  .option("--outdir <folder>", "where the executables are written", "dist")
  .parse();

const { outdir }: { outdir: string } = program.opts();
const named: Target[] = program.processedArgs[0];
const chosen = named.length > 0 ? named : TARGETS;
await mkdir(outdir, { recursive: true });
const sums: string[] = [];
for (const target of chosen) {
  const file = await build(target);
  const sum = new Bun.CryptoHasher("sha256").update(await Bun.file(join(outdir, file)).bytes()).digest("hex");
  sums.push(`${sum}  ${file}\n`);
}
await Bun.write(join(outdir, "SHA256SUMS"), sums.join(""));

function addTarget(text: string, targets: Target[]): Target[] {
  const target = TARGETS.find((each) => each === text);
  if (target === undefined) throw new InvalidArgumentError(`Use one of ${TARGETS.join(", ")}.`);
  return [...targets, target];
}

/** Builds the executable for one target and returns its file name. */
async function build(target: Target): Promise<string> {
  const file = `ostiary-${target}`;
  const startedMs = performance.now();
  process.stdout.write(`${target} `);
  const { success, logs } = await Bun.build({
    entrypoints: [join(ROOT, ENTRY)],
    root: ROOT,
    naming: { asset: "[dir]/[name].[ext]" },
    plugins: [await embedPlugin(ENTRY)],
    minify: true,
    // With bytecode, the executable starts in a fraction of the time. Bytecode requires an explicit `format`.
    bytecode: true,
    format: "esm",
    throw: false,
    compile: {
      target: `bun-${target}`,
      outfile: join(outdir, file),
      // The executable must not load files from the current directory.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  });
  if (!success) {
    process.stdout.write("failed\n");
    process.stderr.write(`${logs.join("\n")}\n`);
    process.exit(1);
  }
  const size = (Bun.file(join(outdir, file)).size / MIB).toFixed(0);
  const took = ((performance.now() - startedMs) / 1_000).toFixed(1);
  process.stdout.write(`${join(outdir, file)}, ${size} MiB, in ${took} s\n`);
  return file;
}
