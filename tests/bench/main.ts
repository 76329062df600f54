import { parseArgs } from "node:util";
import type { Bench } from "./bench.ts";
import { BenchImpossible } from "./measure/cores.ts";

/** Every measurement by name, loaded when it is asked for. */
const benches: Record<string, () => Promise<Bench>> = {
  audited: async () => (await import("./audited.ts")).audited,
  audit: async () => (await import("./audit.ts")).audit,
  "audit-reads": async () => (await import("./audit-reads.ts")).auditReads,
  bodies: async () => (await import("./bodies.ts")).bodies,
  gateway: async () => (await import("./gateway.ts")).gateway,
  lookup: async () => (await import("./lookup.ts")).lookup,
  registry: async () => (await import("./registry.ts")).registry,
  validations: async () => (await import("./validations.ts")).validations,
};

const EXIT_USAGE = 2;

await main();

async function main(): Promise<void> {
  const { positionals, values } = readArguments();
  const [name] = positionals;
  if (name === undefined) return list();
  const load = benches[name];
  if (load === undefined || positionals.length > 1) {
    refuse(`There is no bench "${positionals.join(" ")}". There are: ${Object.keys(benches).join(", ")}.`);
  }
  const bench = await load();
  const result = await bench
    .run({ quick: values.quick, progress: (line) => console.error(line) })
    .catch((error) => (error instanceof BenchImpossible ? refuse(error.message) : Promise.reject(error)));
  console.log(values.json ? JSON.stringify(result.data, null, 2) : result.text);
  process.exit(0);
}

function readArguments() {
  try {
    return parseArgs({
      args: process.argv.slice(2),
      allowPositionals: true,
      options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

async function list(): Promise<void> {
  console.log("bun run bench <name> [--quick] [--json]\n");
  for (const [name, load] of Object.entries(benches)) {
    console.log(`  ${name.padEnd(12)} ${(await load()).summary}`);
  }
}

function refuse(message: string): never {
  console.error(message);
  process.exit(EXIT_USAGE);
}
