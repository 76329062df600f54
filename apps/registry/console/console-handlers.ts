import type { ConsoleSettings } from "@ostiary/lib/contracts/registry-api";
import { signInReturnPath } from "@ostiary/lib/contracts/sign-in";
import { signInOrigins } from "@ostiary/lib/runtime/config";
import { appPage, OSTIARY_ICON, type PageBundle } from "@ostiary/lib/runtime/http";
import type { OperatorConfig } from "../operators/config.ts";

/** The path of the console; its assets have paths below this one. */
export const CONSOLE_PAGE = "/console";

/** The path that the identity provider sends people back to (RG-136). */
export const CONSOLE_RETURN = signInReturnPath(CONSOLE_PAGE);

/**
 * Serves `/console` (RG-97, RG-127). A request for the page needs no token: the page asks the operator for a token
 * and sends it with each call.
 */
export function consoleHandlers({ settings, origins }: ConsoleSite, bundle: () => Promise<PageBundle>) {
  return appPage({
    name: "console",
    paths: settings.sign_in === null ? [CONSOLE_PAGE] : [CONSOLE_PAGE, CONSOLE_RETURN],
    title: "Ostiary console",
    noscript: "The console needs JavaScript. Without JavaScript, use the command line: bun cli --help.",
    icon: OSTIARY_ICON,
    origins,
    settings,
    bundle,
  });
}

/** The settings of the console's page, and the other origins that the page may call (RG-127). */
interface ConsoleSite {
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
