import { createHandler, type HealthState, httpApp, probeRoutes } from "@ostiary/lib/runtime/http";
import type { Listener } from "@ostiary/lib/runtime/service";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import type { PortalConfig } from "./config.ts";
import type { PortalBundle } from "./site/bundle.ts";
import { portalPage, type Shown } from "./site/page.ts";

export interface AppDeps {
  config: PortalConfig;
  telemetry: Telemetry;
  health: HealthState;
  shown: Shown;
  bundlePortal: () => Promise<PortalBundle>;
}

/** The maximum size of a request body: the portal accepts no bodies. */
const BODY_BYTES_MAX = 0;

export function createApp({ config, telemetry, health, shown, bundlePortal }: AppDeps): {
  public: Listener;
  internal: Listener;
} {
  const options = { bodyBytesMax: BODY_BYTES_MAX };
  const handler = {
    telemetry,
    health,
    requestIdOnResponse: false,
    requestsMax: config.MAX_REQUESTS_IN_FLIGHT,
  };
  const served = httpApp(options).use(portalPage(config, shown, bundlePortal));
  const internal = httpApp(options).use(probeRoutes({}, health, telemetry));
  return {
    public: { fetch: createHandler(served, handler) },
    internal: { fetch: createHandler(internal, handler) },
  };
}
