import { join } from "node:path";
import { parse } from "yaml";
import { servedDocuments } from "../full/conformance/served-descriptions.ts";
import type { OpenApiDocument } from "../support/http/openapi.ts";
import { ROOT } from "../support/root.ts";
import { edgeDocument } from "../unit/edge-description/build.ts";

/** The catalogs that publish the platform's own operations to customers. */
const CATALOGS = ["identity", "audit", "registry"];

/** The APIs that a release describes. */
export const API_NAMES = ["audit", "gateway", "identity", "registry"] as const;

/** Returns the OpenAPI descriptions of a release by API. `gateway` is what customers can call. */
export async function releasedDescriptions(): Promise<Record<(typeof API_NAMES)[number], OpenApiDocument>> {
  const { identity, audit, registry } = await servedDocuments();
  const services: Record<string, unknown> = {};
  for (const catalog of CATALOGS) {
    const { services: published } = parse(await Bun.file(join(ROOT, `seeds/${catalog}.yaml`)).text());
    Object.assign(services, published);
  }
  if (identity === undefined || audit === undefined) throw new Error("A service has no description.");
  return { gateway: edgeDocument(services, { identity, audit, registry }), identity, audit, registry };
}
