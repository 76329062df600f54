import { parseArgs } from "node:util";
import { withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { RunImpossible } from "../faults/system/system.ts";
import { Leash } from "../support/leash.ts";
import { RELEASES } from "../upgrade/releases.ts";
import { newRecorders } from "./recorders/index.ts";
import type { Recorder } from "./recorders/recorder.ts";
import { tooManyUndecided, verdictTable, wrongHistories } from "./report.ts";
import { runHistories, unnoticedFaultyClients, withField } from "./run.ts";

const EXIT_WRONG = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;
const MINUTES = "5";
/** The name of the last release. */
const LAST = "last";
const SEED_MAX = 2 ** 31;

// Clients wait for frozen services: more of them than the runtime allows by default.
withRuntimeVariables(process.env, { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" });
await main();

async function main(): Promise<void> {
  const values = readArguments();
  const minutes = numberOf("--minutes", values.minutes);
  const seed = Math.floor(
    numberOf("--seed", values.seed ?? String(1 + Math.floor(Math.random() * SEED_MAX))),
  );
  const recorders = recordersOf(values.only);
  const beside = besideOf(values.beside);
  // However this process ends, the leash ends what it started.
  process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
  progress(`seed ${seed}${beside === null ? "" : `, with ${beside} beside this source`}`);
  const wrong = await withField(new Leash(), progress, { seed, beside }, async (field) => {
    progress("looking whether each model finds its faulty client");
    const unnoticed = await unnoticedFaultyClients(field, recorders);
    const until_ms = performance.now() + minutes * 60_000;
    const goesOn = () => performance.now() < until_ms;
    const verdicts = await runHistories(field, { recorders, seed, goesOn }, progress);
    console.log(values.json ? JSON.stringify({ seed, beside, verdicts }, null, 2) : verdictTable(verdicts));
    return [
      ...unnoticed.map((name) => `${name}: the model did not find the faulty client`),
      ...wrongHistories(verdicts),
      ...tooManyUndecided(verdicts),
    ];
  }).catch((error) => (error instanceof RunImpossible ? refuse(error.message) : Promise.reject(error)));
  for (const each of wrong) console.error(each);
  process.exit(wrong.length > 0 ? EXIT_WRONG : 0);
}

function progress(line: string): void {
  console.error(line);
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  return number > 0 ? number : refuse(`${name} takes a number above 0.`);
}

function recordersOf(only: readonly string[]): readonly Recorder[] {
  const recorders = newRecorders();
  if (only.length === 0) return recorders;
  const names = recorders.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) refuse(`There is no model "${unknown}". There are: ${names.join(", ")}.`);
  return recorders.filter(({ name }) => only.includes(name));
}

/** Returns the release that runs beside this source; null for none. */
function besideOf(version: string | undefined): string | null {
  if (version === undefined) return null;
  const known = RELEASES.map((release) => release.version);
  const found = version === LAST ? known.at(-1) : known.find((each) => each === version);
  return found ?? refuse(`--beside takes a release: ${[...known, LAST].join(", ")}. "${version}" is none.`);
}

function readArguments() {
  try {
    const { values } = parseArgs({
      args: process.argv.slice(2),
      options: {
        minutes: { type: "string", default: MINUTES },
        seed: { type: "string" },
        only: { type: "string", multiple: true, default: [] },
        beside: { type: "string" },
        json: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(message: string): never {
  console.error(message);
  process.exit(EXIT_USAGE);
}
