import { bundlePage, type PageBundle } from "@ostiary/lib/runtime/http";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

/** The console, from its source. An executable, which has none, is built with the outcome in this module's place. */
export function bundleConsole(): Promise<PageBundle> {
  return bundlePage(shippedFile("apps/console/main.tsx"));
}
