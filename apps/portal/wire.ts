import { createHandler, httpApp, probeRoutes } from "@ostiary/lib/runtime/http";
import type { Service } from "@ostiary/lib/runtime/service";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import type { PortalConfig } from "./config.ts";
import { portalPage } from "./site/page.ts";

/** The maximum size of a request body: the portal accepts no bodies. */
const BODY_BYTES_MAX = 0;

/** Builds the portal, ready to start. It has no store and calls no other service (PT-1). */
export async function wirePortal(config: PortalConfig): Promise<Service> {
  const telemetry = await createTelemetry({ name: "portal", namespace: "edge" }, config);
  const health = { draining: false };
  const options = { bodyBytesMax: BODY_BYTES_MAX };
  const handler = {
    telemetry,
    health,
    requestIdOnResponse: false,
    requestsMax: config.MAX_REQUESTS_IN_FLIGHT,
  };
  const served = httpApp(options).use(portalPage(config));
  const internal = httpApp(options).use(probeRoutes({}, health, telemetry));
  return {
    name: "portal",
    telemetry,
    health,
    public: { fetch: createHandler(served, handler) },
    internal: { fetch: createHandler(internal, handler) },
    async start() {},
    async stop() {},
  };
}
