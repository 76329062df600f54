import { type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { witnessVariables } from "./config.ts";
import { checkWitnessKeyFile } from "./key/witness-key.ts";
import { checkLogsFile } from "./logs/logs-file.ts";
import { wireWitness } from "./wire.ts";

/** Runs the witness as a process. */
export function runWitness(env: Environment): Promise<void> {
  return runMain(async () => {
    const config = loadConfig(witnessVariables, env, checkWitnessKeyFile, checkLogsFile, checkPorts);
    return [await serve(await wireWitness(config), config)];
  });
}
