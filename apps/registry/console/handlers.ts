import { signInReturnPath } from "@ostiary/lib/contracts/sign-in";
import { appPage, OSTIARY_ICON, type PageBundle } from "@ostiary/lib/runtime/http";
import type { ConsoleSite } from "./settings.ts";

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
