import { createHandler, type HealthState, httpApp, probeRoutes } from "@ostiary/lib/runtime/http";
import type { Listener } from "@ostiary/lib/runtime/service";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import type { Cosigner } from "./cosigning/cosigner.ts";
import { cosigningHandlers, SUBMISSION_BYTES_MAX } from "./cosigning/handlers.ts";

export interface AppDeps {
  telemetry: Telemetry;
  health: HealthState;
  cosigner: Cosigner;
  /** The maximum number of requests in flight on each of the two ports. */
  requestsMax: number;
}

/** Builds the HTTP apps of the two ports. */
export function createApp({ telemetry, health, cosigner, requestsMax }: AppDeps): {
  public: Listener;
  internal: Listener;
} {
  const handler = { telemetry, health, requestIdOnResponse: false, requestsMax };
  const options = { bodyBytesMax: SUBMISSION_BYTES_MAX, parseBodies: false };
  const served = httpApp(options).use(cosigningHandlers(cosigner));
  const probes = probeRoutes({ state: () => cosigner.check() }, health, telemetry);
  const internal = httpApp({ bodyBytesMax: 0 }).use(probes);
  return {
    public: { fetch: createHandler(served, handler) },
    internal: { fetch: createHandler(internal, handler) },
  };
}
