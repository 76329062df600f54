import { type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { checkPorts, runService } from "@ostiary/lib/runtime/service";
import { type PortalConfig, portalProgram, portalVariables } from "./config.ts";
import { checkBrandFile } from "./site/brand.ts";
import { checkProviders } from "./site/providers.ts";
import { checkWitnesses } from "./site/witnesses.ts";
import { wirePortal } from "./wire.ts";

/**
 * Reads the variables of a portal that runs as its own process.
 * @throws ConfigError with every problem
 */
export function loadPortal(env: Environment): PortalConfig {
  return loadConfig(portalVariables, env, checkBrandFile, checkProviders, checkWitnesses, checkPorts);
}

export function runPortal(env: Environment, parameters: readonly string[] = []): Promise<void> {
  return runService({ program: portalProgram, env, parameters }, loadPortal, wirePortal);
}
