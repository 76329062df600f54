import { RunImpossible } from "../../support/run-impossible.ts";
import { argumentsOf } from "../faults/command.ts";
import { allOf } from "./all.ts";
import type { Bench } from "./bench.ts";
import { compareWith } from "./compare.ts";
import { goalTable } from "./measure/goal-table.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";

type Benches = Record<string, () => Promise<Bench>>;

/** The benches that have goals, by name. A bench's module is imported only if it runs. */
const judged: Benches = {
  floor: async () => (await import("./floor.ts")).floorUnder(),
  gateway: async () => (await import("./gateway.ts")).gateway,
  audited: async () => (await import("./audited.ts")).audited,
  validations: async () => (await import("./validations.ts")).validations,
  edits: async () => (await import("./edits.ts")).edits,
  connections: async () => (await import("./connections.ts")).connections,
};

/** Every bench by name, with its default argument. */
const benches: Benches = {
  ...judged,
  "one-process": async () => (await import("./one-process.ts")).oneProcess,
  proof: async () => (await import("./proof.ts")).proof,
  sealing: async () => (await import("./sealing.ts")).sealing,
  streams: async () => (await import("./streams.ts")).streams,
};

/** The benches that take an argument after their name: a load or a revision. */
const TAKES_MORE: ReadonlySet<string> = new Set(["floor", "compare"]);

const EXIT_USAGE = 2;

await main().catch((error) =>
  error instanceof RunImpossible ? refuse(error.message) : Promise.reject(error),
);

async function main(): Promise<void> {
  const { positionals, values } = argumentsOf(
    {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      record: { type: "boolean", default: false },
    },
    true,
  );
  const [name, given] = positionals;
  const every: Benches = {
    ...benches,
    all: async () => allOf(Object.keys(judged)),
    floor: async () => (await import("./floor.ts")).floorUnder(given),
    compare: async () => compareWith(given),
  };
  if (name === undefined) return list(every);
  const load = every[name];
  if (load === undefined || positionals.length > (TAKES_MORE.has(name) ? 2 : 1)) {
    refuse(`There is no bench "${positionals.join(" ")}". Choose one of: ${Object.keys(every).join(", ")}.`);
  }
  const bench = await load();
  const machine = describeMachine();
  const { parts, data, goals } = await bench.run({
    ...values,
    machine,
    progress: (line) => console.error(line),
  });
  const text = [machineLine(machine), ...parts, ...(goals === undefined ? [] : [goalTable(goals)])];
  console.log(values.json ? JSON.stringify({ machine, ...data, goals }, null, 2) : text.join("\n\n"));
  process.exit(0);
}

async function list(every: Benches): Promise<void> {
  console.log("bun run bench <name> [--quick] [--json]; floor: [--record]; all: [--record]\n");
  for (const [name, load] of Object.entries(every)) {
    console.log(`  ${name.padEnd(12)} ${(await load()).summary}`);
  }
}

function refuse(message: string): never {
  console.error(message);
  process.exit(EXIT_USAGE);
}
