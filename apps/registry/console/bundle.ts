import { bundlePage, type PageBundle } from "@ostiary/lib/runtime/http";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

/**
 * Bundles the console from its source. An executable has no source, so its build replaces this module by the
 * bundle.
 */
export function bundleConsole(): Promise<PageBundle> {
  return bundlePage(shippedFile("apps/console/main.tsx"));
}
