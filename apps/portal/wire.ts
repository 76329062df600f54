import type { Service } from "@ostiary/lib/runtime/service";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { createApp } from "./app.ts";
import type { PortalConfig } from "./config.ts";
import { loadBrand } from "./site/brand.ts";
import { bundlePortal } from "./site/bundle.ts";
import { providersOf } from "./site/providers.ts";
import { loadWitnesses } from "./site/witnesses.ts";

/** Builds the portal, ready to start. It has no store and calls no other service (PT-1). */
export async function wirePortal(config: PortalConfig): Promise<Service> {
  const telemetry = await createTelemetry({ name: "portal", namespace: "edge" }, config);
  const health = { draining: false };
  const shown = {
    brand: loadBrand(config.PORTAL_BRAND_FILE),
    providers: providersOf(config),
    witnesses: loadWitnesses(config),
  };
  return {
    name: "portal",
    telemetry,
    health,
    ...createApp({ config, telemetry, health, shown, bundlePortal }),
    async start() {},
    async stop() {},
  };
}
