import { bundlePage, type PageBundle } from "@ostiary/lib/runtime/http";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

export interface PortalBundle extends PageBundle {
  readonly verifier: string;
}

/**
 * Bundles the portal's page from its source. An executable contains no source, so its build replaces this
 * module with the bundled files.
 */
export async function bundlePortal(): Promise<PortalBundle> {
  const [page, { script: verifier }] = await Promise.all([
    bundlePage(shippedFile("apps/portal/page/main.tsx")),
    bundlePage(shippedFile("apps/portal/page/audit/verify/worker.ts")),
  ]);
  return { ...page, verifier };
}
