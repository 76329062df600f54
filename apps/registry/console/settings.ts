import type { ConsoleSettings } from "@ostiary/lib/contracts/registry-api";
import { signInOrigins } from "@ostiary/lib/runtime/config";
import type { OperatorConfig } from "../operators/config.ts";

/** The settings of the console's page, and the other origins that the page may call (RG-127). */
export interface ConsoleSite {
  readonly settings: ConsoleSettings;
  readonly origins: readonly string[];
}

/** Returns the settings of the console. `sign_in` is null unless both an issuer and a client id are configured. */
export function consoleSite(config: OperatorConfig): ConsoleSite {
  const { OPERATOR_ISSUER: issuer, CONSOLE_CLIENT_ID: client_id } = config;
  if (issuer === undefined || client_id === undefined) return { settings: { sign_in: null }, origins: [] };
  return {
    settings: {
      sign_in: {
        issuer,
        client_id,
        scopes: config.CONSOLE_SCOPES,
        audience: config.CONSOLE_AUDIENCE ?? null,
      },
    },
    origins: signInOrigins([issuer], config.CONSOLE_PROVIDER_ORIGINS),
  };
}
