import { type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { portalProgram, portalVariables } from "./config.ts";
import { checkBrandFile } from "./site/brand.ts";
import { checkWitnesses } from "./site/witnesses.ts";
import { wirePortal } from "./wire.ts";

/** Runs the portal as a process. */
export function runPortal(env: Environment, parameters: readonly string[] = []): Promise<void> {
  return runMain(
    async () => {
      const config = loadConfig(portalVariables, env, checkBrandFile, checkWitnesses, checkPorts);
      return [await serve(await wirePortal(config), config)];
    },
    { program: portalProgram, env, parameters },
  );
}
