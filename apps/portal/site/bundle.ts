import { bundlePage, type PageBundle } from "@ostiary/lib/runtime/http";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

/**
 * Bundles the portal's page from its source. An executable has no source, so its build replaces this module
 * by the output.
 */
export function bundlePortal(): Promise<PageBundle> {
  return bundlePage(shippedFile("apps/portal/page/main.tsx"));
}
