import {
  checkPeerTls,
  checkSharedRouteStore,
  type Environment,
  loadConfig,
} from "@ostiary/lib/runtime/config";
import { checkOperatorsFile } from "@ostiary/lib/runtime/config/operators-file";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { checkPorts, runMain, serve } from "@ostiary/lib/runtime/service";
import { registryVariables } from "./config.ts";
import { checkOperatorProvider } from "./operators/config.ts";
import { wireRegistry } from "./wire.ts";

export function runRegistry(env: Environment): Promise<void> {
  return runMain(async () => {
    const config = loadConfig(
      registryVariables,
      env,
      checkRolesFile,
      checkOperatorsFile,
      checkOperatorProvider,
      checkSharedRouteStore,
      checkPeerTls,
      checkPorts,
    );
    return [await serve(await wireRegistry(config), config)];
  });
}
