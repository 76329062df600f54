import {
  checkPeerTls,
  checkSharedRouteStore,
  type Environment,
  loadConfig,
} from "@ostiary/lib/runtime/config";
import { checkPorts, runService, withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { checkIssuersFile } from "./admission/issuers-file.ts";
import { checkAudit } from "./audit/config.ts";
import { type GatewayConfig, gatewayProgram, gatewayVariables } from "./config.ts";
import { wireGateway } from "./wire.ts";

/**
 * Reads the variables of a gateway that runs as its own process.
 * @throws ConfigError with every problem
 */
export function loadGateway(env: Environment): GatewayConfig {
  return loadConfig(
    gatewayVariables,
    env,
    checkIssuersFile,
    checkAudit,
    checkSharedRouteStore,
    checkPeerTls,
    checkPorts,
  );
}

export function runGateway(env: Environment, parameters: readonly string[] = []): Promise<void> {
  const load = () => {
    const config = loadGateway(env);
    withRuntimeVariables(env, { BUN_CONFIG_MAX_HTTP_REQUESTS: String(config.MAX_UPSTREAM_REQUESTS) });
    return config;
  };
  return runService({ program: gatewayProgram, env, parameters }, load, wireGateway);
}
