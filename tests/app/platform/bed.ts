import { join } from "node:path";
import { loadPlatform, type PlatformConfig } from "../../../apps/platform/config.ts";
import { signingKey } from "../../../apps/platform/data-directory.ts";
import { type Platform, startPlatform } from "../../../apps/platform/wire.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Environment variables that let the platform choose a free port for each listener. */
export const FREE_PORTS = Object.fromEntries(
  ["GATEWAY", "REGISTRY", "IDENTITY", "AUDIT", "PORTAL"]
    .flatMap((name) => [`${name}_PORT`, `${name}_INTERNAL_PORT`])
    .concat("DEMO_PORT", "DEMO_IDENTITY_PROVIDER_PORT")
    .map((name) => [name, "0"]),
);

/** A platform in this process. */
export interface PlatformHere extends Platform, AsyncDisposable {
  readonly config: PlatformConfig;
}

/** Starts the platform in this process, by default with a new folder and embedded stores. */
export async function startPlatformHere(given: Record<string, string> = {}): Promise<PlatformHere> {
  const env = { DATA_DIR: temporaryFolder("platform"), ...FREE_PORTS, ...given };
  const config = loadPlatform(env);
  const platform = await startPlatform({ config, env, cli: "bun cli", onProgress: () => {} });
  return { ...platform, config, [Symbol.asyncDispose]: platform.shutdown };
}

/** Returns the secrets that a platform needs with PostgreSQL and without the demo (OP-136). */
export async function productionSecrets() {
  return {
    ADMIN_TOKEN: "an-admin-token",
    INTERNAL_AUTH_TOKEN: "an-internal-token",
    AUDIT_SIGNING_KEY_FILE: await signingKey(join(temporaryFolder("signing-key"), "key.pem")),
  };
}
