import { bundlePage, type PageBundle } from "@ostiary/lib/runtime/http";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

/** Bundles the console from its source. The build of an executable replaces this module with the finished bundle. */
export function bundleConsole(): Promise<PageBundle> {
  return bundlePage(shippedFile("apps/console/main.tsx"));
}
