import { existsSync } from "node:fs";
import { systemErrorCode } from "@ostiary/lib/domain/errors";
import { type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { runMain, StartRefused } from "@ostiary/lib/runtime/service";
import { type InitConfig, initVariables } from "./config.ts";
import { makeWitnessKey, verifierKeyOf } from "./key/witness-key.ts";
import { createFile, createState } from "./state/state-file.ts";

/**
 * Creates the key and the empty state of a new witness, and returns its verifier key (OP-81). A key never gets a
 * second state, because the witness would then forget what it cosigned.
 */
export async function initWitness(config: InitConfig): Promise<string> {
  const { WITNESS_NAME, WITNESS_KEY_FILE, WITNESS_STATE_FILE } = config;
  for (const variable of ["WITNESS_KEY_FILE", "WITNESS_STATE_FILE"] as const) {
    if (existsSync(config[variable])) throw exists(variable, config[variable]);
  }
  const { key, pem } = await makeWitnessKey(WITNESS_NAME);
  const verifier_key = verifierKeyOf(key);
  await created("WITNESS_STATE_FILE", WITNESS_STATE_FILE, (path) => createState(path, verifier_key));
  await created("WITNESS_KEY_FILE", WITNESS_KEY_FILE, (path) => createFile(path, pem));
  return verifier_key;
}

/** Runs {@link initWitness} as a process that prints the verifier key and exits. */
export function runInit(env: Environment): Promise<void> {
  return runMain(async () => {
    const verifier_key = await initWitness(loadConfig(initVariables, env));
    await Bun.write(Bun.stdout, `${verifier_key}\n`);
    process.exit(0);
  });
}

async function created(
  variable: string,
  path: string,
  create: (path: string) => Promise<void>,
): Promise<void> {
  try {
    await create(path);
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") throw exists(variable, path);
    throw new StartRefused(`${variable}: ${path} cannot be created (${systemErrorCode(error)}).`, error);
  }
}

function exists(variable: string, path: string): StartRefused {
  return new StartRefused(`${variable}: ${path} exists. A new witness needs a new key and a new state.`);
}
